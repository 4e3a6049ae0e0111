package execution_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

const ann = "ann"

// allowed are the transitions that there are (MCP-AQL core §8.4.2), with retrying and paused as states of running.
var allowed = map[execution.State][]execution.State{
	execution.Pending: {execution.Running, execution.Cancelled},
	execution.Running: {execution.Completed, execution.Failed, execution.Cancelled, execution.Retrying,
		execution.Paused},
	execution.Paused:   {execution.Running, execution.Cancelled},
	execution.Retrying: {execution.Running, execution.Failed, execution.Cancelled},
	execution.Failed:   {execution.Retrying},
}

// watched is a store that reports every transition of an execution that is not allowed. It can hold up what follows
// from the end of one.
type watched struct {
	*store.Memory
	t       *testing.T
	mu      sync.Mutex
	states  map[string]execution.State
	expire  map[string]bool // entries that do, by their keys
	holding chan struct{}   // nil: it does not; whoever waits goes on when it is closed
	held    bool            // somebody waits
}

// hold makes the next one wait that is about to write that what belongs to an execution expires.
func (w *watched) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holding == nil {
		w.holding = make(chan struct{})
	}
}

// goOn ends what hold has begun.
func (w *watched) goOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holding != nil {
		close(w.holding)
	}
	w.holding, w.held = nil, false
}

// wait waits where it is to.
func (w *watched) wait(key string, ttl time.Duration) {
	w.mu.Lock()
	holding, first := w.holding, !w.held
	ends := false // an attempt has failed; who cancels an execution does the rest in its call
	for id, state := range w.states {
		ends = ends || state == execution.Failed && strings.Contains(key, id) && !strings.Contains(key, "/r/")
	}
	if holding == nil || !first || !ends || ttl == 0 {
		w.mu.Unlock()
		return
	}
	w.held = true
	w.mu.Unlock()
	<-holding
}

// expires returns an entry of an execution that does; empty: there is none.
func (w *watched) expires(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, expires := range w.expire {
		if expires && strings.Contains(key, id) {
			return key
		}
	}
	return ""
}

func (w *watched) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	w.wait(key, ttl)
	w.mu.Lock()
	defer w.mu.Unlock()
	version, err := w.Memory.Put(ctx, key, value, old, ttl)
	if err == nil {
		w.expire[key] = ttl > 0
	}
	if state, id := stateIn(key, value); err == nil && state != "" {
		before, known := w.states[id]
		legal := !known || before == state
		for _, next := range allowed[before] {
			legal = legal || next == state
		}
		if !legal {
			w.t.Errorf("execution %s went from %s to %s", id, before, state)
		}
		w.states[id] = state
	}
	return version, err
}

// modelled is an execution as the model has it.
type modelled struct {
	id             string
	state          execution.State
	repeats, again int
	from           execution.From // whom it waits for, if it is paused
	name           string         // what for
}

// retries is Operation.Retry of the model.
const retries = 1

// world is an engine beside its model.
type world struct {
	t        *testing.T
	store    *watched
	engine   *execution.Engine
	other    *execution.Engine // of another process
	stop     func()
	outcomes sync.Map // of attempts: channels, by execution
	paused   sync.Map // what executions have waited for: []*pause, by execution
	all      []*modelled
	done     []string // commands
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: &watched{
		Memory: new(store.Memory), t: t, states: make(map[string]execution.State), expire: make(map[string]bool),
	}}
	w.engine, w.other = w.process(), w.process()
	w.work()
	return w
}

func (w *world) process() *execution.Engine {
	e, err := execution.New(execution.Options{
		Store: w.store, Logger: slog.New(slog.DiscardHandler), Backoff: func(int) time.Duration { return time.Minute },
		Operations: map[string]*execution.Operation{
			"work": {Durable: true, Retry: retries, Keep: 1000 * time.Hour, Do: w.do, Decided: w.decided},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) work() {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 2)
	go func() { ended <- w.engine.Work(ctx) }()
	go func() { ended <- w.other.Work(ctx) }()
	w.stop = func() {
		w.store.goOn()
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				w.t.Error(err)
			}
		}
	}
}

func (w *world) outcome(id string) chan string {
	c, _ := w.outcomes.LoadOrStore(id, make(chan string))
	return c.(chan string)
}

// do ends as it is told.
func (w *world) do(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	for _, p := range w.pausesOf(run.ID()) {
		if answer, err := p.await(ctx, run); err != nil || string(answer) != p.answer.Load() {
			w.t.Errorf("%s is answered with %q, want %q: %v", p.name, answer, p.answer.Load(), err)
		}
	}
	select {
	case <-ctx.Done():
		return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
	case what := <-w.outcome(run.ID()):
		switch what {
		case "complete":
			return []byte("1"), nil
		case "fail":
			return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
		case "ask", "wait for the caller":
			_, err := w.pause(run.ID(), what).await(ctx, run)
			return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
		default:
			return nil, &execution.Failure{Code: "VALIDATION_X", Final: true}
		}
	}
}

// command runs a command on an execution, in the engine and in the model.
func (w *world) command(what string, m *modelled) {
	w.done = append(w.done, what)
	ctx := w.t.Context()
	switch {
	case what == "start":
		r, err := w.engine.Start(ctx, execution.Start{Operation: "work", CallerKey: ann, Params: []byte("{}")})
		if err != nil {
			w.t.Fatal(err)
		}
		w.all = append(w.all, &modelled{id: r.ID, state: execution.Running})
	case what == "restart":
		w.stop()
		w.work()
	case what == "wait":
		time.Sleep(2 * time.Minute)
		for _, m := range w.all {
			if m.state == execution.Retrying {
				m.state = execution.Running
			}
		}
	case what == "go on":
		w.store.goOn()
	case what == "cancel" || what == "retry" || strings.HasPrefix(what, "answer"):
		w.ask(what, m)
	case what == "decide":
		if m.state == execution.Paused && m.from == execution.FromPerson {
			w.lastPause(m.id).answer.Store(`"decided"`)
			time.Sleep(2 * time.Second) // until the worker looks
			m.state = execution.Running
		}
	case m.state == execution.Running: // otherwise no attempt is there to be told
		if what == "fail slowly" {
			w.store.hold()
		}
		w.outcome(m.id) <- what
		switch {
		case what == "ask", what == "wait for the caller":
			synctest.Wait()
			p := w.lastPause(m.id)
			m.state, m.from, m.name = execution.Paused, p.from, p.name
		case what == "complete":
			m.state = execution.Completed
		case what == "fail" && m.repeats < retries:
			m.state = execution.Retrying
			m.repeats++
		default:
			m.state = execution.Failed
		}
	}
}

// ask asks for a transition, which the state may not allow.
func (w *world) ask(what string, m *modelled) {
	legal := what == "cancel" && !m.state.Terminal() ||
		what == "retry" && m.state == execution.Failed && m.again < retries ||
		what == "answer" && m.state == execution.Paused && m.from == execution.FromCaller
	ctx := w.t.Context()
	before := w.record(m.id)
	var err error
	switch what {
	case "cancel":
		_, err = w.engine.Cancel(ctx, ann, m.id, "")
	case "retry":
		_, err = w.engine.Retry(ctx, ann, m.id)
	case "answer":
		if legal {
			w.lastPause(m.id).answer.Store(`"answered"`)
		}
		_, err = w.engine.Answer(ctx, ann, m.id, m.name, []byte(`"answered"`))
	default:
		_, err = w.engine.Answer(ctx, ann, m.id, "something else", []byte(`"wrong"`))
	}
	illegal := (*execution.StateError)(nil)
	switch {
	case legal && err != nil:
		w.t.Errorf("%s of one that is %s: %v", what, m.state, err)
	case legal && what == "cancel":
		m.state = execution.Cancelled
	case legal && what == "answer":
		m.state = execution.Running
	case legal:
		m.again++
		m.repeats, m.state = 0, execution.Running
	case !errors.As(err, &illegal):
		w.t.Errorf("%s of one that is %s: %v", what, m.state, err)
	case before != w.record(m.id):
		w.t.Errorf("%s of one that is %s has changed it", what, m.state)
	}
}

// record returns the bytes of a record with its version.
func (w *world) record(id string) string {
	entry, err := w.store.Get(w.t.Context(), "exec//r/"+id)
	if err != nil || !entry.Exists() {
		w.t.Fatalf("execution %s: %v", id, err)
	}
	return fmt.Sprint(entry.Version, string(entry.Value))
}

// compare compares the engine with the model.
func (w *world) compare() {
	time.Sleep(time.Microsecond) // what is to go on now is due in some nanoseconds
	synctest.Wait()
	for _, m := range w.all {
		r, err := w.engine.Get(w.t.Context(), ann, m.id)
		if err != nil {
			w.t.Fatal(err)
		}
		if r.State != m.state {
			w.t.Fatalf("an execution is %s, want %s", r.State, m.state)
		}
		if key := w.store.expires(m.id); key != "" && !m.state.Terminal() {
			w.t.Fatalf("%s of an execution that is %s expires", key, r.State)
		}
	}
}

// REQ-EL-02, REQ-EL-06, REQ-EL-07: whatever is asked of executions in whatever order, their states are those of a model
// of the protocol, and what is not allowed changes nothing.
func TestRandomCommands(t *testing.T) {
	sequences := 10_000
	if testing.Short() {
		sequences = 500
	}
	commands := []string{"start", "cancel", "retry", "complete", "fail", "fail for good", "wait", "restart",
		"ask", "decide", "wait for the caller", "answer", "answer something else", "fail slowly", "go on"}
	for seed := range sequences {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer func() {
				w.stop()
				if t.Failed() {
					t.Logf("seed %d: %q", seed, w.done)
				}
			}()
			w.command("start", nil)
			w.compare()
			for range 3 + random.IntN(12) {
				what := commands[random.IntN(len(commands))]
				if what == "start" && len(w.all) == 4 {
					continue
				}
				w.command(what, w.all[random.IntN(len(w.all))])
				w.compare()
			}
			w.settled()
		})
		if t.Failed() {
			return
		}
	}
}

// settled ends all executions, and looks whether something is left of them.
func (w *world) settled() {
	w.command("go on", nil)
	w.compare()
	for _, m := range w.all {
		if !m.state.Terminal() {
			w.command("cancel", m)
			w.compare()
		}
	}
	time.Sleep(10 * time.Second) // until workers have looked for what they could not remove
	if n, err := w.engine.Walk(w.t.Context()); n != 0 || err != nil {
		w.t.Errorf("%d executions were forgotten: %v", n, err)
	}
	queued, taken, _, err := w.engine.Outstanding(w.t.Context())
	if queued != 0 || taken != 0 || err != nil {
		w.t.Errorf("%d are queued and %d with workers: %v", queued, taken, err)
	}
}
