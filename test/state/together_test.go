package state

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// job is the request of an operation whose executions end when they are told to, or at once where they have a key.
type job struct{ Key string }

// newJobs makes an adapter with such an operation. Its executions tell a file when they begin.
func newJobs(state store.Store, begun *os.File, finish func(id string) <-chan struct{}) (*aql.Adapter, error) {
	run := func(ctx context.Context, _ []any, request any, run *aql.Run) (any, error) {
		if _, err := fmt.Fprintln(begun, run.ID()); err != nil {
			return nil, err
		}
		if request.(*job).Key != "" {
			return nil, nil
		}
		select {
		case <-finish(run.ID()):
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return aql.New(gen.NewRegistry([]gen.Handler{{
		Name: "work", Category: gen.Execute, Danger: gen.Reversible, DangerSource: gen.DangerFromTag,
		Description: "Works.", Request: (*job)(nil), Params: []gen.Field{{Name: "key", Go: "Key", Type: "string"}},
		Execution: &gen.Execution{Lifecycle: gen.Lifecycle{Durable: true, Once: "key"}, Run: aql.RunFunc(run)},
	}}, nil), aql.Options{
		Name: "jobs", State: state, StateTimeout: patience, Executions: aql.Executions{Poll: 50 * time.Millisecond},
	})
}

// jobAnswer is an answer that has an execution.
type jobAnswer struct {
	Success bool
	Data    struct {
		ID      string `json:"execution_id"`
		Status  string
		Version string
	}
	Error struct{ Code, Message string }
}

// together is a process that works and does what its input says, many times at once:
//
//	start N KEY    starts an execution with the key; prints the ids that it is told
//	cancel N ID    cancels the execution; prints how many of that were accepted, and how many came too late
//	finish N ID    lets the execution complete where it runs
//	get N ID       prints the state and the version of the execution
//
// A key or an id of - is none.
func together(location, begunFile string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	defer state.Close()
	begun, err := os.OpenFile(begunFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	var gates sync.Map
	gate := func(id string) chan struct{} {
		c, _ := gates.LoadOrStore(id, make(chan struct{}))
		return c.(chan struct{})
	}
	adapter, err := newJobs(state, begun, func(id string) <-chan struct{} { return gate(id) })
	if err != nil {
		return err
	}
	worked := make(chan error, 1)
	go func() { worked <- adapter.Work(ctx) }()
	session := adapter.NewSession()
	call := func(operation string, params map[string]string) (a jobAnswer, err error) {
		request, err := json.Marshal(map[string]any{"operation": operation, "params": params})
		if err != nil {
			return a, err
		}
		caller := aql.WithCaller(ctx, aql.Caller{Subject: "ann", Issuer: "test"})
		return a, json.Unmarshal(session.Call(caller, adapter.Tool(operation), request).JSON, &a)
	}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var what, of string
		var n int
		if _, err := fmt.Sscan(in.Text(), &what, &n, &of); err != nil {
			return fmt.Errorf("%q: %w", in.Text(), err)
		}
		var mu sync.Mutex
		told := make(map[string]int)
		var failed error
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				var a jobAnswer
				var err error
				said := ""
				switch what {
				case "start":
					a, err = call("work", map[string]string{"key": strings.Trim(of, "-")})
					said = a.Data.ID
				case "cancel":
					a, err = call("cancel_execution", map[string]string{"execution_id": of})
					said = "accepted"
					if a.Error.Code == "CONFLICT_INVALID_STATE" {
						a.Success, said = true, "late"
					}
				case "finish":
					close(gate(of))
					a.Success = true
				case "get":
					a, err = call("get_execution", map[string]string{"execution_id": of})
					said = a.Data.Status + "/" + a.Data.Version
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil && !a.Success {
					err = errors.New(a.Error.Code + " " + a.Error.Message)
				}
				failed = errors.Join(failed, err)
				told[said]++
			})
		}
		all.Wait()
		if failed != nil {
			return failed
		}
		fmt.Println(strings.Join(slices.Sorted(maps.Keys(told)), " "))
	}
	stop()
	return errors.Join(in.Err(), <-worked)
}

// workTogether starts processes that work on shared state.
func workTogether(t *testing.T, n int, location, begun string) []*process {
	t.Helper()
	var all []*process
	for range n {
		all = append(all, start(t, "together", location, begun))
	}
	for _, p := range all {
		if got := p.line(t); got != "ready" {
			t.Fatal(got)
		}
	}
	return all
}

// tell has a process do something, whose answer is its next line.
func (p *process) tell(t *testing.T, what string, n int, of string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, what, n, of); err != nil {
		t.Fatal(err)
	}
}

// asks has a process do something, and returns its answer.
func (p *process) asks(t *testing.T, what string, n int, of string) string {
	t.Helper()
	p.tell(t, what, n, of)
	return p.line(t)
}

// endTogether ends processes, and returns how often each execution has begun.
func endTogether(t *testing.T, all []*process, begun string) map[string]int {
	t.Helper()
	for _, p := range all {
		p.in.Close()
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(begun)
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for id := range strings.FieldsSeq(string(text)) {
		times[id]++
	}
	return times
}

// Of a hundred starts with one key, which four processes make at the same time, also of the first ones with their
// state, there is one execution, which runs once.
func TestOneKeyStartsOneExecution(t *testing.T) {
	const processes, starts = 4, 100
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			begun := filepath.Join(t.TempDir(), "begun")
			workers := workTogether(t, processes, p.open(t), begun)
			var ids []string
			for round := range max(rounds(t)/20, 5) {
				key := fmt.Sprint("key-", round)
				for _, w := range workers {
					w.tell(t, "start", starts/processes, key)
				}
				told := make(map[string]bool)
				for _, w := range workers {
					for _, id := range strings.Fields(w.line(t)) {
						told[id] = true
					}
				}
				if len(told) != 1 {
					t.Fatalf("round %d: one key has started %v", round, slices.Sorted(maps.Keys(told)))
				}
				for id := range told {
					ids = append(ids, id)
				}
			}
			for _, id := range ids {
				soon(t, "the end of an execution", func() bool {
					return strings.HasPrefix(workers[0].asks(t, "get", 1, id), "completed/")
				})
			}
			want := make(map[string]int)
			for _, id := range ids {
				want[id] = 1
			}
			if times := endTogether(t, workers, begun); !maps.Equal(times, want) {
				t.Errorf("they have run %v, want each of %d once", times, len(ids))
			}
		})
	}
}

// REQ-EL-02: of cancellations in two processes, and of a cancellation in one and a completion in the other, one is the
// end of an execution: both processes see the same, nobody was promised another, and it is final.
func TestOneEndOfTwoProcesses(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			begun := filepath.Join(t.TempDir(), "begun")
			workers := workTogether(t, 2, p.open(t), begun)
			ends := make(map[string]int)
			for round := range max(rounds(t)/10, 24) {
				one, other := workers[round%2], workers[1-round%2]
				id := one.asks(t, "start", 1, "-")
				if round%8 > 1 {
					soon(t, "an execution to run", func() bool {
						return strings.HasPrefix(one.asks(t, "get", 1, id), "running/")
					})
				}
				race := [2][]string{{"cancel"}, {"cancel"}}
				switch round / 2 % 4 { // whichever of the two it runs in
				case 2:
					race = [2][]string{{"cancel", "finish"}, {"finish"}}
				case 3:
					race = [2][]string{{"finish", "cancel"}, {"finish"}}
				}
				for i, w := range []*process{one, other} {
					for _, what := range race[i] {
						n := map[string]int{"cancel": 3, "finish": 1}[what]
						w.tell(t, what, n, id)
					}
				}
				said := ""
				for i, w := range []*process{one, other} {
					for range race[i] {
						said += w.line(t)
					}
				}
				end := ""
				soon(t, "an end", func() bool {
					end = one.asks(t, "get", 1, id)
					return strings.HasPrefix(end, "cancelled/") || strings.HasPrefix(end, "completed/")
				})
				state, _, _ := strings.Cut(end, "/")
				ends[state]++
				if state == "cancelled" && !strings.Contains(said, "accepted") ||
					state == "completed" && race[1][0] == "cancel" {
					t.Errorf("round %d, %v: the end is %s where cancelling was %s", round, race, end, said)
				}
				for _, w := range workers {
					if late := w.asks(t, "cancel", 2, id); late != "late" {
						t.Errorf("round %d: cancelling what is %s is %s", round, end, late)
					}
					if again := w.asks(t, "get", 1, id); again != end {
						t.Errorf("round %d: the end is %s, and then %s", round, end, again)
					}
				}
			}
			for id, times := range endTogether(t, workers, begun) {
				if times != 1 {
					t.Errorf("%s has run %d times", id, times)
				}
			}
			t.Logf("ends: %v", ends)
		})
	}
}
