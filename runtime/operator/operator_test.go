package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// terminal is a terminal on which a person types.
type terminal struct {
	io.Reader
	bytes.Buffer
}

func (t *terminal) Read(p []byte) (int, error) { return t.Reader.Read(p) }
func (t *terminal) Close() error               { return nil }

// desk is a desk in a test.
type desk struct {
	operator.Desk
	stdout, stderr bytes.Buffer
	terminal       *terminal // nil: there is none
}

func newDesk(typed string) *desk {
	d := &desk{terminal: &terminal{Reader: strings.NewReader(typed)}}
	d.Desk = operator.Desk{
		Program: "notes", Inbox: approve.New(new(store.Memory)), Stdout: &d.stdout, Stderr: &d.stderr,
		Who: identity.Caller{Subject: "eve", Issuer: "stdio"}, Groups: []string{"ops"},
		Terminal: func() (io.ReadWriteCloser, error) {
			if d.terminal == nil {
				return nil, errors.New("no such device")
			}
			return d.terminal, nil
		},
		Now: func() time.Time { return start.Add(30 * time.Second) },
	}
	return d
}

func (d *desk) ask(t *testing.T, change func(*approve.Question)) string {
	t.Helper()
	q := approve.Question{
		Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note", Danger: gen.Destructive,
		Caller: identity.Caller{Subject: "ann", Issuer: "stdio"}, Message: "Delete note 'n1'?", Reasons: []string{"For good"},
		Params: `{"note_id":"n1"}`, At: start, Lifetime: 5 * time.Minute,
	}
	if change != nil {
		change(&q)
	}
	item, _, err := d.Inbox.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return item.ID
}

func (d *desk) run(t *testing.T, flags operator.Flags, words ...string) int {
	t.Helper()
	return operator.Command{}.Run(t.Context(), d.Desk, flags, words)
}

func (d *desk) state(t *testing.T, id string) approve.State {
	t.Helper()
	item, err := d.Inbox.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return item.State
}

// F61: what a person does at the terminal, and what becomes of the item. Whose vote would not count is asked to type
// nothing.
func TestDecisions(t *testing.T) {
	factors := func(q *approve.Question) {
		q.Needs = approve.Needs{Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, Reason: true}
	}
	typing := func(q *approve.Question) { q.Typing = approve.Typing{Param: "note_id", Value: "n1"} }
	enquires := func(q *approve.Question) { q.Kind, q.Execution = approve.Enquiry, "exec_x" }
	for name, tt := range map[string]struct {
		change func(*approve.Question)
		typed  string
		flags  operator.Flags
		word   string
		state  approve.State
		code   int
		says   string
	}{
		"the value is typed": {
			change: typing, typed: " n1 \n", word: "approve", state: approve.Approved, says: "is approved",
		},
		"another value is typed": {
			change: typing, typed: "n2\n", word: "approve", state: approve.Open, code: 2,
			says: "not approved: what you typed is not the value",
		},
		"approve is typed for a value": {
			change: typing, typed: "approve\n", word: "approve", state: approve.Open, code: 2, says: "not the value",
		},
		"the value is a flag": {
			change: typing, flags: operator.Flags{Type: "n1"}, word: "approve", state: approve.Approved, says: "is approved",
		},
		"another value is a flag": {
			change: typing, flags: operator.Flags{Type: "n2"}, word: "approve", state: approve.Open, code: 2,
			says: "not the value",
		},
		"a flag where nothing is to be typed": {
			typed: "approve\n", flags: operator.Flags{Type: "n1"}, word: "approve", state: approve.Open, code: 2,
			says: "leave out -type",
		},
		"what has people type is denied": {change: typing, word: "deny", state: approve.Denied, says: "is denied"},
		"approve is typed":               {typed: "approve\n", word: "approve", state: approve.Approved, says: "is approved"},
		"yes is not enough": {
			typed: "yes\n", word: "approve", state: approve.Open, code: 2, says: "did not type",
		},
		"nothing is typed": {word: "approve", state: approve.Open, code: 1, says: "reading from the terminal"},
		"it is denied": {
			word: "deny", state: approve.Denied, flags: operator.Flags{Reason: "no"}, says: "is denied",
		},
		"one of two": {
			change: factors, typed: "approve\nfine\n",
			word: "approve", state: approve.Open, says: "still needs 1 person of ops",
		},
		"the reason is a flag": {
			change: factors, typed: "approve\n",
			flags: operator.Flags{Reason: "ok"}, word: "approve", state: approve.Open, says: "counts",
		},
		"no reason": {
			change: factors, typed: "approve\n\n",
			word: "approve", state: approve.Open, code: 2, says: "needs a reason",
		},
		"another group": {change: func(q *approve.Question) {
			q.Needs.Factors = []approve.Factor{{Groups: []string{"legal"}}}
		}, word: "approve", state: approve.Open, code: 2, says: "1 person of legal"},
		"the own request over HTTP": {change: func(q *approve.Question) {
			q.Caller, q.Needs.NotRequester = identity.Caller{Subject: "eve", Issuer: "https://issuer.example"}, true
		}, word: "approve", state: approve.Open, code: 2, says: "who asks cannot approve"},
		"too early": {change: func(q *approve.Question) { q.Cooldown = time.Minute }, word: "approve",
			state: approve.Open, code: 2, says: "wait until"},
		"a passphrase is needed, and there is no state that could have it": {change: func(q *approve.Question) {
			q.Needs.Reauthenticate = true
		}, typed: "approve\n", word: "approve", state: approve.Open, code: 1, says: "there is no state here"},
		"what an execution asks is approved": {
			change: enquires, typed: "approve\n", word: "approve", state: approve.Approved, says: "The execution goes on",
		},
		"what an execution asks is denied": {
			change: enquires, word: "deny", state: approve.Denied, says: "The execution is told so",
		},
		"too late": {change: func(q *approve.Question) { q.Lifetime = time.Second }, word: "approve",
			state: approve.Open, code: 2, says: "has expired"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(tt.typed)
			id := d.ask(t, tt.change)
			code := d.run(t, tt.flags, tt.word, id)
			if said := d.stdout.String() + d.stderr.String(); code != tt.code || d.state(t, id) != tt.state ||
				!strings.Contains(said, tt.says) {
				t.Errorf("code %d, %s, says %q; want %d, %s, %q", code, d.state(t, id), said, tt.code, tt.state, tt.says)
			}
		})
	}
}

// A time of another day is shown with its date: one that is tomorrow does not look as if it were over.
func TestTimesOfOtherDays(t *testing.T) {
	local := start.Local()
	for lifetime, want := range map[time.Duration]string{
		time.Minute:    local.Add(time.Minute).Format("15:04:05"),
		24 * time.Hour: local.Add(24 * time.Hour).Format("2006-01-02 15:04:05"),
	} {
		d := newDesk("")
		id := d.ask(t, func(q *approve.Question) { q.Lifetime = lifetime })
		d.run(t, operator.Flags{}, "show", id)
		if line := "  until       " + want + "\n"; !strings.Contains(d.stdout.String(), line) {
			t.Errorf("%q is not in\n%s", line, &d.stdout)
		}
	}
}

// A program that has no terminal, such as the shell of an agent, approves nothing.
func TestApprovalsAreTyped(t *testing.T) {
	d := newDesk("")
	d.terminal = nil
	id := d.ask(t, nil)
	if code := d.run(t, operator.Flags{Reason: "please"}, "approve", id); code != 1 || d.state(t, id) != approve.Open {
		t.Errorf("code %d, %s: %s", code, d.state(t, id), &d.stderr)
	}
}

// Texts of agents control no terminal and look like nothing else, wherever they are shown.
func TestHostileTexts(t *testing.T) {
	hostile := "a\x1b[2J\x1b]0;x\a\u202e\u200b\r\nb\u2028\u009b31m\x00"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk("approve\n")
	id := d.ask(t, func(q *approve.Question) {
		q.Adapter, q.Operation, q.Rule, q.Message, q.Reasons = hostile, hostile, hostile, hostile, []string{hostile}
		q.Caller = identity.Caller{Subject: hostile, Issuer: hostile}
		q.Params = `{` + string(quoted) + `:` + string(quoted) + `,"long":"` + strings.Repeat("x", 5000) + `","id":"n1"}`
	})
	for _, words := range [][]string{{"list"}, {"show", id}, {"approve", id}} {
		for _, flags := range []operator.Flags{{}, {JSON: true, All: true}} {
			d.run(t, flags, words...)
		}
	}
	shown := d.stdout.String() + d.terminal.String() + d.stderr.String()
	for _, r := range shown {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028') {
			t.Errorf("%q is shown", r)
		}
	}
	if strings.Contains(d.terminal.String(), "\nb") {
		t.Errorf("a text of the agent begins a line: %s", d.terminal.String())
	}
	if !strings.Contains(d.terminal.String(), `id  "n1"`) ||
		!strings.Contains(d.terminal.String(), "(4500 bytes left out)") {
		t.Errorf("a long parameter hides another: %s", d.terminal.String())
	}
}

// hostileInbox has one item, in which every text is hostile.
type hostileInbox struct {
	approve.Inbox
	item approve.Item
}

func (h hostileInbox) List(context.Context) ([]approve.Item, error) {
	return []approve.Item{h.item}, nil
}
func (h hostileInbox) Get(context.Context, string) (approve.Item, error) { return h.item, nil }
func (h hostileInbox) Vote(_ context.Context, _ string, v approve.Vote) (approve.Item, error) {
	if v.Approve {
		return h.item, nil
	}
	return h.item, approve.ErrDecided
}

// Who lifts the pause of a quota reads that this is for all calls of the caller, wherever the item is shown.
func TestPausesOfQuotasAreOfAllCalls(t *testing.T) {
	of := func(q *approve.Question) {
		q.Kind, q.Reasons, q.Params = approve.Continuation, nil, ""
		q.Message = "Quota requests_per_day of this caller pauses at 1, and 1 is used.\nLet all calls go on until midnight?"
	}
	d := newDesk("approve\n")
	id := d.ask(t, of)
	d.run(t, operator.Flags{}, "list")
	if code := d.run(t, operator.Flags{}, "approve", id); code != 0 {
		t.Errorf("code %d: %s", code, d.stderr.String())
	}
	shown := d.terminal.String() + d.stdout.String()
	for _, want := range []string{
		"open  all operations  quota  by ann", "operation   all of notes; a call of delete_note met the pause\n",
		"question    Quota requests_per_day of this caller pauses at 1, and 1 is used.\n",
		"question    Let all calls go on until midnight?\n",
		"Type approve to let all calls of this caller go on until the quota resets: ",
		"all its calls go on until the quota resets.\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "once") || strings.Contains(shown, "destructive") {
		t.Errorf("it is shown as one call:\n%s", shown)
	}
	d = newDesk("")
	if d.run(t, operator.Flags{}, "deny", d.ask(t, of)); !strings.Contains(d.stdout.String(), "all calls of the caller") {
		t.Error(d.stdout.String())
	}
}

// Nor does anything else that somebody has put into the state control a terminal.
func TestHostileItems(t *testing.T) {
	hostile := "\x1b[2J\nx\u202e"
	d := newDesk("approve\n")
	for _, state := range []approve.State{approve.State(hostile), approve.Approved, approve.Denied} {
		d.Inbox = hostileInbox{item: approve.Item{
			ID: hostile, Kind: approve.Kind(hostile), State: state, Danger: gen.Danger(hostile), Expires: start.Add(time.Hour),
			Params: `{"` + hostile + `":1`,
		}}
		for _, words := range [][]string{{"list"}, {"show", "x"}, {"approve", "x"}, {"deny", "x"}} {
			for _, flags := range []operator.Flags{{All: true}, {JSON: true, All: true}} {
				d.run(t, flags, words...)
			}
		}
	}
	shown := d.stdout.String() + d.terminal.String() + d.stderr.String()
	if !strings.Contains(shown, `\u001b[2J\u000ax\u202e`) || strings.ContainsAny(shown, "\x1b\u202e") ||
		strings.Contains(shown, "\nx") {
		t.Errorf("%q", shown)
	}
}

// Lists have what waits, and with a flag what was decided.
func TestLists(t *testing.T) {
	d := newDesk("approve\n")
	d.run(t, operator.Flags{}, "list")
	if d.stdout.String() != "Nothing waits for a decision.\n" {
		t.Errorf("%s", &d.stdout)
	}
	first := d.ask(t, nil)
	second := d.ask(t, func(q *approve.Question) { q.Binding, q.At = approve.Binding{1}, start.Add(time.Second) })
	d.run(t, operator.Flags{}, "deny", first)
	d.stdout.Reset()
	d.run(t, operator.Flags{}, "list")
	want := second + "  open  delete_note destructive  confirmation  by ann (stdio)  29s ago  note_id \"n1\"\n"
	if d.stdout.String() != want {
		t.Errorf("got\n%swant\n%s", &d.stdout, want)
	}
	third := d.ask(t, func(q *approve.Question) {
		q.Binding, q.At = approve.Binding{2}, start.Add(2*time.Second)
		q.Needs.Factors = []approve.Factor{{Count: 2}}
	})
	d.run(t, operator.Flags{}, "approve", third)
	d.stdout.Reset()
	d.run(t, operator.Flags{}, "list")
	want += third + "  open  delete_note destructive  confirmation  by ann (stdio)  28s ago  still needs 1 person  " +
		"note_id \"n1\"\n"
	if d.stdout.String() != want {
		t.Errorf("got\n%swant\n%s", &d.stdout, want)
	}
	d.run(t, operator.Flags{}, "deny", third)
	d.stdout.Reset()
	d.run(t, operator.Flags{All: true, JSON: true}, "list")
	var items []approve.Item
	for decoder := json.NewDecoder(&d.stdout); decoder.More(); {
		var item approve.Item
		if err := decoder.Decode(&item); err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	if len(items) != 3 || items[0].ID != first || items[0].State != approve.Denied || items[1].ID != second {
		t.Errorf("%+v", items)
	}
	for _, words := range [][]string{nil, {"show"}, {"aprove", first}, {"list", "x"}} {
		if code := d.run(t, operator.Flags{}, words...); code != 3 {
			t.Errorf("%q: code %d", words, code)
		}
	}
	if code := d.run(t, operator.Flags{}, "show", "ask_X"); code != 2 {
		t.Errorf("an item that is not there: code %d", code)
	}
}

// Watching tells what comes and what becomes of it, and ends when it is interrupted.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk("")
		ctx, cancel := context.WithCancel(t.Context())
		id := d.ask(t, nil)
		code := make(chan int)
		go func() { code <- operator.Command{}.Run(ctx, d.Desk, operator.Flags{}, []string{"watch"}) }()
		synctest.Wait()
		if _, err := d.Inbox.Vote(ctx, id, approve.Vote{
			By: identity.Caller{Subject: "bob"}, Approve: true, At: start.Add(time.Minute),
		}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if got := <-code; got != 0 {
			t.Errorf("code %d: %s", got, &d.stderr)
		}
		lines := strings.Split(strings.TrimSpace(d.stdout.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], id+"  open") || !strings.Contains(lines[1], id+"  approved") {
			t.Errorf("%s", &d.stdout)
		}
	})
}

// Who watches with another key is told that there is something, once, and the exit code says so.
func TestWatchingWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		d := newDesk("")
		d.Inbox = approve.New(state)
		ctx, cancel := context.WithCancel(t.Context())
		code := make(chan int)
		go func() { code <- operator.Command{}.Run(ctx, d.Desk, operator.Flags{}, []string{"watch"}) }()
		synctest.Wait()
		if _, err := state.Put(ctx, "approve/x", []byte("x"), 0, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		id := d.ask(t, nil)
		synctest.Wait()
		cancel()
		if got := <-code; got != 1 || strings.Count(d.stderr.String(), "1 entry of the inbox cannot be read") != 2 {
			t.Errorf("code %d: %s", got, &d.stderr)
		}
		if !strings.Contains(d.stdout.String(), id+"  open") {
			t.Errorf("%s", &d.stdout)
		}
	})
}

// sink writes records as JSON.
type sink struct{ to *bytes.Buffer }

func (s sink) Write(_ context.Context, records []audit.Record) error {
	for i := range records {
		s.to.Write(records[i].AppendJSON(nil))
	}
	return nil
}

func (s sink) Close() error { return nil }

// AU-01: votes are on record, with who voted and why.
func TestVotesAreOnRecord(t *testing.T) {
	var out bytes.Buffer
	d := newDesk("approve\n")
	d.Audit = audit.New(audit.Options{Sinks: []audit.Sink{sink{&out}}, Wait: true})
	id := d.ask(t, nil)
	d.run(t, operator.Flags{Reason: "fine"}, "approve", id)
	for _, want := range []string{
		`"event":"APPROVAL_GRANTED"`, `"operation":"delete_note"`, `"reason":"fine"`, `"approval_id":"` + id + `"`,
		`"user_id":"eve"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", &out, want)
		}
	}
}

// What the adapter depends on is looked at: each on a line, and with an exit code for scripts.
func TestHealth(t *testing.T) {
	d := newDesk("")
	d.State = new(store.Memory)
	d.Audit = audit.New(audit.Options{Sinks: []audit.Sink{audit.Slog(slog.New(slog.DiscardHandler))}})
	d.ask(t, nil)
	if code := d.run(t, operator.Flags{}, "health"); code != 0 {
		t.Errorf("exit code %d: %s", code, d.stderr.String())
	}
	for _, want := range []string{"store  ok", "inbox  ok", "1 open", "audit  ok"} {
		if !strings.Contains(d.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, d.stdout.String())
		}
	}
	if err := d.Audit.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.stdout.Reset()
	if code := d.run(t, operator.Flags{}, "health"); code != 1 || !strings.Contains(d.stdout.String(), "audit  fails") ||
		!strings.Contains(d.stderr.String(), "audit: ") {
		t.Errorf("exit code %d:\n%s%s", code, d.stdout.String(), d.stderr.String())
	}
}
