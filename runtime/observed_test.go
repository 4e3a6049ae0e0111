package aql

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// witness writes down what its hooks are told, each event behind those that it is within.
type witness struct {
	mutex  sync.Mutex
	events []string
}

type witnessKey struct{}

func (w *witness) hooks() *observe.Hooks {
	return &observe.Hooks{
		Call: func(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
			c.Session, c.Bytes = "", 0
			return begun(ctx, w, "call", c, func(e observe.CallEnd) any { e.Bytes = 0; return e })
		},
		Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
			return begun(ctx, w, "operation", o, func(e observe.OperationEnd) any { return e })
		},
		Gate:     func(ctx context.Context, d observe.Decision) { w.note(ctx, "gate", d) },
		Approval: func(ctx context.Context, a observe.Approval) { w.note(ctx, "approval", a) },
	}
}

func begun[T, E any](
	ctx context.Context, w *witness, what string, event T, end func(E) any,
) (context.Context, func(E)) {
	w.note(ctx, what, event)
	within, _ := ctx.Value(witnessKey{}).(string)
	return context.WithValue(ctx, witnessKey{}, within+">"), func(e E) { w.note(ctx, what+" ended", end(e)) }
}

// note writes an event down: what it is and its fields that are not zero, indented by how far it is within others.
func (w *witness) note(ctx context.Context, what string, event any) {
	text, _ := json.Marshal(event)
	var fields map[string]any
	_ = json.Unmarshal(text, &fields)
	delete(fields, "Transport") // which the tests of package mcpserver look at
	var given []string
	for name, value := range fields {
		if value != "" && value != 0.0 && value != false {
			given = append(given, fmt.Sprintf("%s=%v", name, value))
		}
	}
	slices.Sort(given)
	within, _ := ctx.Value(witnessKey{}).(string)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.events = append(w.events, strings.TrimSpace(within+" "+what+" "+strings.Join(given, " ")))
}

func (w *witness) take() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	events := w.events
	w.events = nil
	return events
}

// Each call, each of its requests and each decision about one is told once, one within the other.
func TestHooksSeeCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		options       Options
		tool, request string
		want          []string
	}{
		"a call": {
			tool: "mcp_aql_read", request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation Category=READ Danger=safe Endpoint=read Name=get_note",
				"> operation ended Ran=true",
				"call ended",
			},
		},
		"a failure": {
			tool: "mcp_aql_execute", request: `{"operation":"panic_note"}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_execute",
				"> operation Category=EXECUTE Danger=reversible Endpoint=execute Name=panic_note",
				"> operation ended Code=INTERNAL_ERROR Ran=true",
				"call ended Code=INTERNAL_ERROR Error=true",
			},
		},
		"a tool that there is not": {
			tool: "steal_notes", request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want: []string{
				"call Adapter=notes",
				"> operation",
				"> operation ended Code=NOT_FOUND_OPERATION",
				"call ended Code=NOT_FOUND_OPERATION",
			},
		},
		"an operation that there is not": {
			tool: "mcp_aql_read", request: `{"operation":"steal_note"}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation",
				"> operation ended Code=NOT_FOUND_OPERATION",
				"call ended Code=NOT_FOUND_OPERATION",
			},
		},
		"an operation of another tool": {
			tool: "mcp_aql_read", request: `{"operation":"delete_note","params":{"note_id":"n1"}}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation Category=DELETE Danger=destructive Endpoint=delete Name=delete_note",
				"> operation ended Code=VALIDATION_ENDPOINT_MISMATCH",
				"call ended Code=VALIDATION_ENDPOINT_MISMATCH",
			},
		},
		"what is no request": {
			tool: "mcp_aql_read", request: `{"operation":`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation",
				"> operation ended Code=VALIDATION_MALFORMED_JSON",
				"call ended Code=VALIDATION_MALFORMED_JSON Error=true",
			},
		},
		"introspection": {
			tool: "mcp_aql_read", request: `{"operation":"introspect","params":{"query":"operations"}}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation Category=READ Danger=safe Endpoint=read Name=introspect",
				"> operation ended",
				"call ended",
			},
		},
		"a batch": {
			tool: "mcp_aql_execute", request: `{"operations":[{"operation":"nothing"},{"operation":"what"},
				{"operation":"panic_note"},{"operation":"nothing"}]}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_execute",
				"> operation Category=EXECUTE Danger=reversible Endpoint=execute Name=nothing",
				"> operation ended Ran=true",
				"> operation Index=1",
				"> operation ended Code=NOT_FOUND_OPERATION",
				"> operation Category=EXECUTE Danger=reversible Endpoint=execute Index=2 Name=panic_note",
				"> operation ended Code=INTERNAL_ERROR Ran=true",
				"> operation Category=EXECUTE Danger=reversible Endpoint=execute Index=3 Name=nothing",
				"> operation ended Ran=true",
				"call ended Items=4",
			},
		},
		"a batch that halts": {
			tool: "mcp_aql_delete", request: `{"operations":[{"operation":"delete_note","params":{"note_id":"n1"}},
				{"operation":"delete_note","params":{"note_id":"n2"}}]}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_delete",
				"> operation Category=DELETE Danger=destructive Endpoint=delete Name=delete_note",
				">> gate Effect=held Operation=delete_note Reason=confirmation",
				"> operation ended Code=CONFIRMATION_REQUIRED",
				"call ended Items=2",
			},
		},
		"a denial by the policy": {
			options: Options{Policy: &policy.Policy{Rules: []policy.Rule{
				{Name: "closed", Effect: policy.Deny, Operations: []string{"get_*"}},
			}}},
			tool: "mcp_aql_read", request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation Category=READ Danger=safe Endpoint=read Name=get_note",
				">> gate Effect=denied Operation=get_note Reason=policy Rule=closed",
				"> operation ended Code=PERMISSION_DENIED",
				"call ended Code=PERMISSION_DENIED",
			},
		},
		"a rule that allows": {
			options: Options{Policy: &policy.Policy{Rules: []policy.Rule{
				{Name: "open", Effect: policy.Allow, Operations: []string{"get_*"}},
			}}},
			tool: "mcp_aql_read", request: `{"operation":"get_note","params":{"note_id":"n1"}}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_read",
				"> operation Category=READ Danger=safe Endpoint=read Name=get_note",
				">> gate Effect=allowed Operation=get_note Rule=open",
				"> operation ended Ran=true",
				"call ended",
			},
		},
		"a state that fails": {
			options: Options{State: brokenState{}},
			tool:    "mcp_aql_delete", request: `{"operation":"delete_note","params":{"note_id":"n1"}}`,
			want: []string{
				"call Adapter=notes Tool=mcp_aql_delete",
				"> operation Category=DELETE Danger=destructive Endpoint=delete Name=delete_note",
				">> gate Effect=failed Operation=delete_note Reason=state_unavailable",
				"> operation ended Code=INTERNAL_ERROR",
				"call ended Code=INTERNAL_ERROR Error=true",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := new(witness)
			tt.options.Observe = w.hooks()
			f := newFixture(t, tt.options)
			f.session.Call(t.Context(), tt.tool, []byte(tt.request))
			if diff := cmp.Diff(tt.want, w.take()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// brokenState is a state that cannot be reached.
type brokenState struct{ store.Store }

func (brokenState) Get(context.Context, string) (store.Entry, error) { return store.Entry{}, errSecret }

func (brokenState) Put(context.Context, string, []byte, store.Version, time.Duration) (store.Version, error) {
	return 0, errSecret
}

func (brokenState) Delete(context.Context, string, store.Version) error { return errSecret }

func (brokenState) List(context.Context, string, string, int) ([]store.Entry, error) {
	return nil, errSecret
}

// What a hook is told of a call stays as it is when the memory of the message is used again.
func TestHooksMayKeepWhatTheyAreTold(t *testing.T) {
	var kept observe.Call
	f := newFixture(t, Options{Observe: &observe.Hooks{
		Call: func(ctx context.Context, c observe.Call) (context.Context, func(observe.CallEnd)) {
			kept = c
			return ctx, nil
		},
	}})
	message := []byte("mcp_aql_read")
	f.session.Call(t.Context(), unsafe.String(&message[0], len(message)), []byte(`{"operation":"introspect"}`))
	clear(message)
	if kept.Tool != "mcp_aql_read" {
		t.Errorf("the tool has become %q", kept.Tool)
	}
}

// An item is told of when it is opened and when its approval is used, however often the request comes.
func TestHooksSeeApprovals(t *testing.T) {
	w := new(witness)
	options := humanOnly()
	options.Observe = w.hooks()
	d := newDesk(t, options)
	id := d.ask("ann", deleteN1)
	d.ask("ann", deleteN1)
	d.now = d.now.Add(time.Minute)
	d.approve(id)
	d.now = d.now.Add(time.Minute)
	if answer := d.send("ann", deleteN1); !answer.Success {
		t.Fatalf("%+v", answer)
	}
	got := slices.DeleteFunc(w.take(), func(e string) bool { return !strings.HasPrefix(e, ">>") })
	want := []string{
		">> approval Event=opened Kind=confirmation Operation=delete_note",
		">> gate Effect=held Operation=delete_note Reason=confirmation",
		">> gate Effect=held Operation=delete_note Reason=confirmation",
		">> approval Event=used Kind=confirmation Operation=delete_note Waited=6e+10",
		">> gate Effect=confirmed Operation=delete_note",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Hooks are told nothing that clients write in parameters or as names, nothing that handlers return, no token, and
// nobody's name.
func TestHooksSeeNothingSensitive(t *testing.T) {
	const mark = "marked"
	w := new(witness)
	f := newFixture(t, Options{Observe: w.hooks()})
	ctx := WithCaller(t.Context(), Caller{Subject: mark, Issuer: mark})
	send := func(tool, request string) string {
		t.Helper()
		reply := f.session.Call(ctx, tool, []byte(request))
		return string(reply.JSON)
	}
	if got := send("mcp_aql_create", `{"operation":"create_note","params":{"title":"`+mark+`","secret":"`+mark+mark+
		`"}}`); !strings.Contains(got, mark) {
		t.Fatal(got)
	}
	held := send("mcp_aql_delete", `{"operation":"delete_note","params":{"note_id":"`+mark+`"}}`)
	var answer told
	if err := json.Unmarshal([]byte(held), &answer); err != nil || answer.Error.Details.Token == "" {
		t.Fatal(held)
	}
	token := answer.Error.Details.Token
	if got := send("mcp_aql_delete", `{"operation":"delete_note","params":{"note_id":"`+mark+`","_confirmation":"`+token+
		`"}}`); !strings.Contains(got, `"success":true`) {
		t.Fatal(got)
	}
	send("mcp_aql_read", `{"operation":"`+mark+`","params":{"`+mark+`":1}}`)
	send("mcp_aql_read", `{"operation":"get_note","params":{"note_id":"n1","`+mark+`":1},"id":"`+mark+`"}`)
	events := strings.Join(w.take(), "\n")
	if strings.Contains(events, mark) || strings.Contains(events, token) || !strings.Contains(events, "create_note") {
		t.Error(events)
	}
}

// Every reason of the gate has a word for hooks.
func TestObservedReasons(t *testing.T) {
	seen := make(map[string]bool)
	for r := gate.DeniedByPolicy; r <= gate.Unavailable; r++ {
		word := observedReasons[r]
		if word == "" || seen[word] || strings.ContainsAny(word, " -") {
			t.Errorf("reason %d is %q", r, word)
		}
		seen[word] = true
	}
}

// Without hooks a call allocates what it did before there were any, and hooks that are nil add next to nothing.
func TestNoHooksCostNothing(t *testing.T) {
	measure := func(o *observe.Hooks) float64 {
		f := newFixture(t, Options{Observe: o})
		ctx, least := t.Context(), math.Inf(1)
		request := []byte(`{"operation":"nothing"}`)
		for range 100 { // the race detector loses what pools hold now and then
			least = min(least, testing.AllocsPerRun(1, func() { f.session.Call(ctx, "mcp_aql_execute", request) }))
		}
		return least
	}
	const before = 5 // allocations of such a call in front of the first hook
	if n := measure(nil); n > before {
		t.Errorf("%v allocations without hooks, more than %d", n, before)
	}
	if n := measure(new(observe.Hooks)); n > before+2 {
		t.Errorf("%v allocations with hooks that are nil, more than %d", n, before+2)
	}
	f := newFixture(t, Options{})
	ctx, request := t.Context(), []byte(`{"operation":"nothing"}`)
	if n := testing.AllocsPerRun(100, func() {
		within, end := f.session.Begin(ctx, "mcp_aql_execute", request)
		if end(Reply{}); within != ctx || f.session.adapter.Observed() {
			t.Error("there are hooks")
		}
	}); n != 0 {
		t.Errorf("%v allocations in place of a hook", n)
	}
}

func BenchmarkHooks(b *testing.B) {
	for name, hooks := range map[string]*observe.Hooks{
		"none": nil,
		"nil":  {},
		"all": {
			Call: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.CallEnd)) {
				return ctx, func(observe.CallEnd) {}
			},
			Operation: func(ctx context.Context, _ observe.Operation) (context.Context, func(observe.OperationEnd)) {
				return ctx, func(observe.OperationEnd) {}
			},
			Gate: func(context.Context, observe.Decision) {},
		},
	} {
		b.Run(name, func(b *testing.B) {
			f := newFixture(b, Options{Observe: hooks})
			request := []byte(`{"operation":"nothing"}`)
			b.ReportAllocs()
			for b.Loop() {
				f.session.Call(b.Context(), "mcp_aql_execute", request)
			}
		})
	}
}
