package operator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/google/go-cmp/cmp"
)

// A list says in a line what each item is about: what identifies it first, and of long values both ends.
func TestListsSayWhatItemsAreAbout(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, tt := range map[string]struct {
		change func(*approve.Question)
		want   string
	}{
		"one parameter": {func(*approve.Question) {}, `note_id "n1"`},
		"what identifies comes first": {
			func(q *approve.Question) { q.Params = `{"a":1,"b":[2],"note_id":"n1"}` }, `note_id "n1", a 1, b [2]`,
		},
		"what people type does before": {
			func(q *approve.Question) {
				q.Params, q.Typing = `{"note_id":"n1","title":"x"}`, approve.Typing{Param: "title", Value: "x"}
			}, `title "x", note_id "n1"`,
		},
		"what an agent says does too": {
			func(q *approve.Question) {
				q.Kind, q.Params = approve.Step, `{"element_name":"bot","execution_id":"e","next_action_hint":"git push"}`
			}, `next_action_hint "git push", element_name "bot", execution_id "e"`,
		},
		"many": {func(q *approve.Question) { q.Params = `{"a":1,"b":2,"c":3,"d":4,"e":5}` }, `a 1, b 2, c 3, and 2 more`},
		"long ones": {
			func(q *approve.Question) { q.Params = `{"` + long + `":"` + long + `","b":["` + long + `"]}` },
			fmt.Sprintf(`%s… (40 bytes left out) …%s "%[1]s… (40 bytes left out) …%[2]s", b ["%s… (44 bytes left out) …%s"]`,
				long[:36], long[:24], long[:34], long[:22]),
		},
		"what misleads": {
			func(q *approve.Question) { q.Params = `{"\u202e":"a\u001b\nb\u200b"}` }, `\u202e "a\u001b\nb\u200b"`,
		},
		"a question": {
			func(q *approve.Question) {
				q.Kind, q.Execution, q.Params, q.Message = approve.Enquiry, "e", `{"a":1}`, "Overwrite 2?\nReally?"
			}, `Overwrite 2? Really?`,
		},
		"no parameters": {func(q *approve.Question) { q.Params = `{}` }, `Delete note 'n1'?`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk("")
			d.ask(t, tt.change)
			d.run(t, operator.Flags{}, "list")
			_, got, _ := strings.Cut(d.stdout.String(), " ago  ")
			if diff := cmp.Diff(tt.want+"\n", got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// several opens items of several callers about several operations, and of an agent's step.
func several(t *testing.T, d *desk) (ids []string) {
	t.Helper()
	for i, q := range []struct{ caller, operation, agent string }{
		{"ann", "delete_note", ""}, {"ann", "wipe_notes", ""}, {"bob", "delete_note", ""},
		{"bob", "record_execution_step", "bot"}, {"ann", "delete_note", ""},
	} {
		ids = append(ids, d.ask(t, func(question *approve.Question) {
			question.Binding[0], question.Operation = byte(i), q.operation
			question.At = start.Add(time.Duration(i) * time.Second)
			question.Caller = identity.Caller{Subject: q.caller, Issuer: "stdio"}
			if q.agent != "" {
				question.Kind, question.Params = approve.Step, `{"element_name":"`+q.agent+`"}`
			}
		}))
	}
	return ids
}

// Who is flooded with requests denies them together: by who asks or what for, with one reason, after their count is
// typed, and with one passphrase. Nothing approves like that.
func TestDenyingSeveral(t *testing.T) {
	for name, tt := range map[string]struct {
		flags  operator.Flags
		named  []int // ids among the words
		typed  string
		denied string // one digit for each item
		code   int
		says   string
	}{
		"of a caller": {
			flags: operator.Flags{Agent: "ann"}, typed: "deny 3\nflood\n", denied: "11001", says: "3 of 3 items are denied",
		},
		"about an agent":     {flags: operator.Flags{Agent: "bot"}, typed: "deny 1\nflood\n", denied: "00010"},
		"about an operation": {flags: operator.Flags{Operation: "delete_note"}, typed: "deny 3\nflood\n", denied: "10101"},
		"of a caller about an operation, with a reason": {
			flags: operator.Flags{Agent: "ann", Operation: "delete_note", Reason: "flood"}, typed: "deny 2\n", denied: "10001",
		},
		"named ones":             {named: []int{0, 3, 0}, typed: "deny 2\nflood\n", denied: "10010"},
		"one is named":           {named: []int{0}, denied: "10000", says: "is denied"},
		"another count":          {flags: operator.Flags{Agent: "ann"}, typed: "deny 2\nflood\n", code: 2, says: "deny 3"},
		"without a count":        {flags: operator.Flags{Agent: "ann"}, typed: "deny\nflood\n", code: 2, says: "deny 3"},
		"without a reason":       {flags: operator.Flags{Agent: "ann"}, typed: "deny 3\n\n", code: 2, says: "need a reason"},
		"of nobody":              {flags: operator.Flags{Agent: "eve"}, typed: "deny 0\nx\n", code: 2, says: "nothing waits"},
		"nothing is named":       {code: 3, says: "or -agent or -operation"},
		"named and selected":     {flags: operator.Flags{Agent: "ann"}, named: []int{0}, code: 3, says: "either IDs"},
		"one of them is unknown": {named: []int{0, 99}, typed: "deny 2\nflood\n", code: 2, says: "nothing is denied: ask_X"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(tt.typed)
			ids := several(t, d)
			words := []string{"deny"}
			for _, i := range tt.named {
				words = append(words, append(ids, "ask_X")[min(i, len(ids))])
			}
			code := d.run(t, tt.flags, words...)
			said, denied := d.stdout.String()+d.stderr.String(), ""
			for _, id := range ids {
				denied += map[bool]string{true: "1", false: "0"}[d.state(t, id) == approve.Denied]
			}
			if want := strings.Repeat("0", len(ids)-len(tt.denied)) + tt.denied; code != tt.code || denied != want {
				t.Errorf("code %d, denied %s, want %d, %s: %s", code, denied, tt.code, want, said)
			}
			if !strings.Contains(said, tt.says) {
				t.Errorf("%s\nlacks %q", said, tt.says)
			}
			if denied == "11001" && !strings.Contains(d.terminal.String(), ids[0]+"  open  delete_note") {
				t.Errorf("the terminal does not list them: %s", d.terminal)
			}
		})
	}
}

// records keeps what is recorded.
type records []audit.Record

func (r *records) Write(_ context.Context, written []audit.Record) error {
	*r = append(*r, written...)
	return nil
}

func (*records) Close() error { return nil }

// Each denial has the reason, and is on record.
func TestDenialsOfSeveralAreOnRecord(t *testing.T) {
	book := new(records)
	d := newDesk("deny 3\n")
	d.Audit = audit.New(audit.Options{Sinks: []audit.Sink{book}, Wait: true})
	ids := several(t, d)
	if code := d.run(t, operator.Flags{Agent: "ann", Reason: "flood"}, "deny"); code != 0 || len(*book) != 3 {
		t.Fatalf("code %d, %+v: %s", code, *book, &d.stderr)
	}
	for i, want := range []string{ids[0], ids[1], ids[4]} {
		if r := (*book)[i]; r.ApprovalID != want || r.Event != audit.ApprovalDenied || r.Reason != "flood" {
			t.Errorf("%+v, want %s", r, want)
		}
		if item, err := d.Inbox.Get(t.Context(), want); err != nil || item.Denial().Reason != "flood" {
			t.Errorf("%+v, %v", item, err)
		}
	}
}

// Who has a passphrase types it once, and a program without a terminal denies no more than it names.
func TestDenyingSeveralNeedsAPerson(t *testing.T) {
	h := newHolding(t, true)
	ids := several(t, h.desk)
	h.types(passphrase, "deny 3", "flood")
	if code := h.run(t, operator.Flags{Agent: "ann"}, "deny"); code != 0 ||
		strings.Count(h.terminal.String(), "Passphrase of") != 1 {
		t.Errorf("code %d: %s%s", code, h.terminal, &h.stderr)
	}
	h.types("a wrong one, I guess", "deny 1", "flood")
	if code := h.run(t, operator.Flags{Agent: "bot"}, "deny"); code != 2 || h.state(t, ids[3]) != approve.Open {
		t.Errorf("with a wrong passphrase: code %d", code)
	}
	h.Terminal = func() (io.ReadWriteCloser, error) { return nil, errors.New("no such device") }
	if code := h.run(t, operator.Flags{Agent: "bob", Reason: "flood"}, "deny"); code != 1 ||
		h.state(t, ids[2]) != approve.Open {
		t.Errorf("without a terminal: code %d", code)
	}
	for _, word := range []string{"approve", "show"} {
		if code := h.run(t, operator.Flags{Agent: "bob"}, word, ids[2]); code != 3 || h.state(t, ids[2]) != approve.Open {
			t.Errorf("%s -agent: code %d", word, code)
		}
	}
}
