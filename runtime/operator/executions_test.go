package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// house is an adapter with executions, and the desk of who operates it. It is for a bubble of synctest.
type house struct {
	*desk
	engine *execution.Engine
	ended  []string // executions that the adapter has cleaned up after
}

// newHouse returns a house whose executions run until the returned function is called. What an execution does is its
// parameter.
func newHouse(t *testing.T, keys ...[]byte) (h *house, stop func()) {
	t.Helper()
	h = &house{desk: newDesk("")}
	h.Now, h.Kept, h.Keys = time.Now, new(store.Memory), keys
	var err error
	h.engine, err = execution.New(execution.Options{
		Store: h.Kept, Name: "notes", Keys: keys, Logger: slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{
			"import": {Durable: true, Do: do, Decided: func(context.Context, *execution.Record) ([]byte, error) {
				return nil, nil
			}},
			"other": {Durable: true}, // which other processes run
		},
		Ended: func(_ context.Context, r *execution.Record) error {
			h.ended = append(h.ended, r.ID)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := h.engine.Work(ctx); err != nil {
			t.Error(err)
		}
	})
	return h, func() { cancel(); working.Wait() }
}

// do is an attempt at the operation import.
func do(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	failed := &execution.Failure{Code: "NOT_FOUND_RESOURCE", Message: "The list is gone", Final: true}
	var todo string
	if json.Unmarshal(run.Params(), &todo) != nil {
		return nil, failed
	}
	switch todo {
	case "fail":
		return nil, failed
	case "ask":
		_, err := run.Await(ctx, execution.FromPerson, "publish", func(
			context.Context, *execution.Waiting,
		) ([]byte, execution.Waiting, error) {
			return nil, execution.Waiting{
				Until: time.Now().Add(time.Hour), About: `{"message":"Publish 8 todos?","item":"ask_X"}`, Ref: "ask_X",
			}, nil
		})
		if err != nil {
			return nil, failed
		}
	case "go on":
		_, _ = run.Step(ctx, "plan", func(context.Context) ([]byte, error) { return []byte("8"), nil })
		current, total := 3, 8
		run.Progress(execution.Progress{Current: &current, Total: &total, Message: "Importing\x1b[2J"})
		<-ctx.Done()
		return nil, failed
	}
	return []byte("true"), nil
}

func (h *house) start(t *testing.T, operation, todo string) string {
	t.Helper()
	params, _ := json.Marshal(todo)
	r, err := h.engine.Start(t.Context(), execution.Start{
		Operation: operation, CallerKey: "ann's", Caller: []byte(`{"subject":"ann","issuer":"stdio","scopes":["x"]}`),
		Params: params,
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	return r.ID
}

func (h *house) says(t *testing.T, want int, flags operator.Flags, words ...string) string {
	t.Helper()
	h.stdout.Reset()
	h.stderr.Reset()
	if code := h.run(t, flags, words...); code != want {
		t.Errorf("%s: code %d, want %d: %s%s", words, code, want, &h.stdout, &h.stderr)
	}
	return h.stdout.String() + h.stderr.String()
}

var randomNames = regexp.MustCompile(`\b[a-z_]*[a-z2-7]{26}\b`)

// named replaces the random names in a text, by the names of executions.
func named(text string, ids map[string]string) string {
	for id, name := range ids {
		text = strings.ReplaceAll(text, id, name)
	}
	return randomNames.ReplaceAllString(text, "worker")
}

// F61: who operates the adapter sees the executions of all callers, and everything about one.
func TestExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := newHouse(t)
		defer stop()
		if got := h.says(t, 0, operator.Flags{}, "executions"); got != "There are no such executions.\n" {
			t.Errorf("there are none: %s", got)
		}
		ids := make(map[string]string)
		for _, todo := range []string{"go on", "ask", "fail", "complete"} {
			ids[h.start(t, "import", todo)] = "exec_" + strings.ReplaceAll(todo, " ", "_")
		}
		ids[h.start(t, "other", "")] = "exec_other"
		want := `exec_other     pending    other   by ann (stdio)  1s ago
exec_complete  completed  import  by ann (stdio)  2s ago
exec_fail      failed     import  by ann (stdio)  3s ago  NOT_FOUND_RESOURCE
exec_ask       paused     import  by ann (stdio)  4s ago  waits for an operator
exec_go_on     running    import  by ann (stdio)  5s ago  3 of 8, Importing\u001b[2J
`
		squeezed := func(text string) string { return regexp.MustCompile(` {2,}`).ReplaceAllString(text, "  ") }
		if diff := cmp.Diff(squeezed(want), squeezed(named(h.says(t, 0, operator.Flags{}, "executions"), ids))); diff != "" {
			t.Error(diff)
		}
		for flags, want := range map[operator.Flags]string{
			{Status: "failed"}: "exec_fail", {Status: "paused", Operation: "import"}: "exec_ask",
			{Operation: "other"}: "exec_other", {Status: "retrying"}: "There are no such executions.\n",
		} {
			if got := named(h.says(t, 0, flags, "executions"), ids); !strings.HasPrefix(got, want) ||
				strings.Count(got, "\n") != 1 {
				t.Errorf("%+v: %s", flags, got)
			}
		}
		var pages []string
		all := []string{"exec_other", "exec_complete", "exec_fail", "exec_ask", "exec_go_on"}
		place := regexp.MustCompile(`There may be more: -after (\S+)\n`)
		for flags := (operator.Flags{First: 2}); ; {
			got := h.says(t, 0, flags, "executions")
			page := named(place.ReplaceAllString(got, ""), ids)
			pages = append(pages, regexp.MustCompile(`exec_[a-z_]+`).FindAllString(page, -1)...)
			next := place.FindStringSubmatch(got)
			if next == nil {
				break
			}
			flags.After = next[1]
		}
		if diff := cmp.Diff(all, pages); diff != "" {
			t.Error(diff)
		}
		for id, name := range ids {
			wants := map[string][]string{
				"exec_go_on": {
					"exec_go_on is running.\n\n  operation   import\n  started by  ann (stdio), 5s ago\n" +
						"  progress    3 of 8, Importing\\u001b[2J\n  attempt     1\n  steps       1 done\n  worker      worker, alive\n",
				},
				"exec_ask": {
					"is paused", "  waits for   an operator, until ", "  question    Publish 8 todos?\n",
					"  to decide   notes operator approve ask_X\n",
				},
				"exec_fail":     {"  failed      NOT_FOUND_RESOURCE: The list is gone\n", "  kept until  "},
				"exec_complete": {"is completed", "  ended       "},
				"exec_other":    {"is pending"},
			}[name]
			got := named(h.says(t, 0, operator.Flags{}, "executions", id), ids)
			for _, want := range wants {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			for _, r := range got {
				if r != '\n' && unicode.IsControl(r) {
					t.Errorf("%q is shown", r)
				}
			}
		}
	})
}

// The names and the form of what -json prints are stable.
func TestExecutionsAsJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := newHouse(t)
		defer stop()
		running := h.start(t, "import", "go on")
		asking := h.start(t, "import", "ask")
		failed := h.start(t, "import", "fail")
		ids := map[string]string{running: "exec_1", asking: "exec_2", failed: "exec_3"}
		const (
			caller = `"caller":{"subject":"ann","issuer":"stdio"},"durable":true,"attempt":1,`
			one    = `{"execution_id":"exec_1","operation":"import","status":"running",` + caller
			ofOne  = `"created_at":"2000-01-01T00:00:00Z","started_at":"2000-01-01T00:00:00.000000001Z",` +
				`"progress":{"current":3,"total":8,"message":"Importing\u001b[2J"}}`
			two = `{"execution_id":"exec_2","operation":"import","status":"paused",` + caller +
				`"created_at":"2000-01-01T00:00:01Z","started_at":"2000-01-01T00:00:01Z","due_at":"2000-01-01T01:00:01Z",` +
				`"waits_for":{"name":"publish","from":"operator","message":"Publish 8 todos?","approval_id":"ask_X",` +
				`"until":"2000-01-01T01:00:01Z"}}`
			three = `{"execution_id":"exec_3","operation":"import","status":"failed",` + caller +
				`"created_at":"2000-01-01T00:00:02Z","started_at":"2000-01-01T00:00:02Z","finished_at":"2000-01-01T00:00:02Z",` +
				`"expires_at":"2000-01-02T00:00:02Z","error":{"code":"NOT_FOUND_RESOURCE","message":"The list is gone"}}`
		)
		nanos := regexp.MustCompile(`\.0000000\d\dZ`)
		for name, tt := range map[string]struct {
			flags operator.Flags
			words []string
			want  string
		}{
			"a list": {
				operator.Flags{JSON: true}, []string{"executions"},
				`{"executions":[` + three + `,` + two + `,` + one + `"worker":"worker",` + ofOne + `]}`,
			},
			"nothing": {operator.Flags{JSON: true, Status: "pending"}, []string{"executions"}, `{"executions":[]}`},
			"one": {
				operator.Flags{JSON: true}, []string{"executions", running},
				one + `"steps_done":1,"worker":"worker","worker_alive":true,` + ofOne,
			},
		} {
			got := nanos.ReplaceAllString(named(h.says(t, 0, tt.flags, tt.words...), ids), "Z")
			if diff := cmp.Diff(nanos.ReplaceAllString(tt.want, "Z")+"\n", got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		page := h.says(t, 0, operator.Flags{JSON: true, First: 1}, "executions")
		if !regexp.MustCompile(`"next":"[0-9a-f]{16}/` + failed + `"}\n$`).MatchString(page) {
			t.Errorf("a page: %s", page)
		}
	})
}

// A person at a terminal ends the execution of whoever has started it, with a reason, and that is on record. The
// adapter cleans up after it, and an attempt that runs ends.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := newHouse(t)
		defer stop()
		path := filepath.Join(t.TempDir(), "audit.log")
		file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		h.Audit = audit.New(audit.Options{Sinks: []audit.Sink{file}, Wait: true})
		defer h.Audit.Close(context.WithoutCancel(t.Context()))
		long := operator.Flags{Reason: strings.Repeat("x", 501)}
		running, asking, pending := h.start(t, "import", "go on"), h.start(t, "import", "ask"), h.start(t, "other", "")
		failed := h.start(t, "import", "fail")
		state := func(id string) execution.State {
			t.Helper()
			r, err := h.engine.Look(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return r.State
		}
		for name, tt := range map[string]struct {
			id, typed string
			flags     operator.Flags
			code      int
			says      string
		}{
			"another word":         {running, "yes\n", operator.Flags{}, 2, "did not type cancel"},
			"no reason":            {running, "cancel\n \n", operator.Flags{}, 2, "needs a reason"},
			"too long a reason":    {running, "cancel\n", long, 2, "up to 500 bytes"},
			"one that has ended":   {failed, "cancel\nno\n", operator.Flags{}, 2, "has ended already: it is failed"},
			"one that there isn't": {"exec_none", "cancel\nno\n", operator.Flags{}, 2, "operator executions"},
			"nothing is typed":     {running, "", operator.Flags{}, 1, "reading from the terminal"},
		} {
			h.terminal = &terminal{Reader: strings.NewReader(tt.typed)}
			if got := h.says(t, tt.code, tt.flags, "cancel", tt.id); !strings.Contains(got, tt.says) {
				t.Errorf("%s: %s", name, got)
			}
		}
		h.terminal = nil
		if got := h.says(t, 1, operator.Flags{Reason: "no"}, "cancel", running); !strings.Contains(got, "no such device") {
			t.Errorf("without a terminal: %s", got)
		}
		if state(running) != execution.Running || state(asking) != execution.Paused {
			t.Error("something is cancelled")
		}
		for id, says := range map[string]string{
			running: "is told to end", asking: asking + " is cancelled.", pending: pending + " is cancelled.",
		} {
			h.terminal = &terminal{Reader: strings.NewReader("cancel\nNot on a Friday\n")}
			if got := h.says(t, 0, operator.Flags{}, "cancel", id); !strings.Contains(got, says) {
				t.Errorf("%s lacks %q", got, says)
			}
			if shown := h.terminal.String(); !strings.Contains(shown, "  started by  ann (stdio)") {
				t.Errorf("who decides is shown:\n%s", shown)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, id := range []string{running, asking, pending} {
			r, err := h.engine.Look(t.Context(), id)
			if err != nil || r.State != execution.Cancelled || r.Reason != "Not on a Friday" {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if ended := fmt.Sprint(h.ended); !strings.Contains(ended, asking) || !strings.Contains(ended, running) {
			t.Errorf("the adapter has cleaned up after %s alone", ended)
		}
		if queued, taken, _, err := h.engine.Outstanding(t.Context()); err != nil || queued+taken > 0 {
			t.Errorf("%d and %d are left, %v", queued, taken, err)
		}
		h.AuditFile = path
		got := h.says(t, 0, operator.Flags{Operation: "cancel_execution"}, "audit", "tail")
		const record = "OPERATION_ALLOWED  cancel_execution  allowed  by eve (stdio)  Not on a Friday\n"
		if strings.Count(got, record) != 3 || strings.Count(got, "cancel_execution") != 3 {
			t.Errorf("on record: %s", got)
		}
	})
}

// Without the state key of the adapter nobody cancels what it has sealed, and sees nothing of it that is sealed.
func TestExecutionsOfAnotherKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, stop := newHouse(t, []byte(strings.Repeat("k", 32)))
		defer stop()
		id := h.start(t, "import", "go on")
		for name, keys := range map[string][][]byte{"no key": nil, "another": {[]byte(strings.Repeat("x", 32))}} {
			h.Keys = keys
			h.terminal = &terminal{Reader: strings.NewReader("cancel\nno\n")}
			if got := h.says(t, 1, operator.Flags{}, "cancel", id); !strings.Contains(got, "give the -state-key") {
				t.Errorf("%s: %s", name, got)
			}
			if got := h.says(t, 0, operator.Flags{}, "executions", id); strings.Contains(got, "Importing") {
				t.Errorf("%s: %s", name, got)
			}
		}
		h.Keys = [][]byte{[]byte(strings.Repeat("k", 32))}
		if got := h.says(t, 0, operator.Flags{}, "executions", id); !strings.Contains(got, "Importing") {
			t.Error(got)
		}
	})
}

// A command line that is wrong says what is wrong with it, and which commands a flag is for.
func TestExecutionUsage(t *testing.T) {
	d := newDesk("")
	d.Kept = new(store.Memory)
	d.Who = identity.Caller{Subject: "eve"}
	for want, tt := range map[string]struct {
		flags operator.Flags
		words []string
	}{
		"-status is one of: pending, running":            {operator.Flags{Status: "done"}, []string{"executions"}},
		"-status: this flag is for other commands":       {operator.Flags{Status: "failed"}, []string{"list"}},
		"-agent: this flag is for other commands: list,": {operator.Flags{Agent: "x"}, []string{"show", "ask_X"}},
		"-first and -last are 1 to 1000":                 {operator.Flags{First: 1001}, []string{"executions"}},
		"-follow: this flag is for other commands":       {operator.Flags{Follow: true}, []string{"watch"}},
		"executions takes one ID":                        {operator.Flags{}, []string{"executions", "a", "b"}},
		"cancel needs the ID of an execution":            {operator.Flags{}, []string{"cancel"}},
		"audit takes the word tail":                      {operator.Flags{}, []string{"audit"}},
		"-audit names the file":                          {operator.Flags{}, []string{"audit", "tail"}},
	} {
		d.stderr.Reset()
		if code := d.run(t, tt.flags, tt.words...); code != 3 || !strings.Contains(d.stderr.String(), want) {
			t.Errorf("%q: code %d, %s", want, code, &d.stderr)
		}
	}
	d.stderr.Reset()
	if code := d.run(t, operator.Flags{}, "executions", "exec_none"); code != 2 ||
		!strings.Contains(d.stderr.String(), "operator executions") {
		t.Errorf("code %d, %s", code, &d.stderr)
	}
}

// Who may only look ends no execution, and whoever has a passphrase types it first.
func TestRolesOfCancellations(t *testing.T) {
	for role, want := range map[identity.Role]struct {
		code int
		says string
	}{
		identity.Viewer: {2, "you may look"}, identity.Approver: {0, "is cancelled"}, identity.Admin: {0, "is cancelled"},
	} {
		h := as(t, role)
		h.Kept = h.State
		engine, err := execution.New(execution.Options{
			Store: h.Kept, Name: "notes", Logger: slog.New(slog.DiscardHandler),
			Operations: map[string]*execution.Operation{"import": {Durable: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Start(t.Context(), execution.Start{Operation: "import", CallerKey: "ann", Params: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		h.types("a wrong one", "cancel", "no")
		if code := h.run(t, operator.Flags{}, "cancel", r.ID); code != 2 {
			t.Errorf("%s, with a wrong passphrase: code %d, %s", role, code, &h.stderr)
		}
		h.types(passphrase, "cancel", "no")
		code := h.run(t, operator.Flags{}, "cancel", r.ID)
		if said := h.stdout.String() + h.stderr.String(); code != want.code || !strings.Contains(said, want.says) {
			t.Errorf("%s: code %d, %s", role, code, said)
		}
		if code := h.run(t, operator.Flags{}, "executions", r.ID); code != 0 {
			t.Errorf("%s sees nothing: code %d, %s", role, code, &h.stderr)
		}
	}
}
