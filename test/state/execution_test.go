package state

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/execution/executiontest"
	"github.com/aqltag/aqltag/runtime/store"
)

// every is at which calls of a store executions fail: 1 takes a quarter of an hour.
var every = flag.Int("every", 9, "let executions fail at every nth call of a store")

// firstCall repeats what has failed, of executions and of agents that are held.
var firstCall = flag.Int("first", 0, "let the first of these calls be this one, up to -every; 0: a random one")

// Executions survive a crash and a freeze before and after the calls of every store.
func TestExecutionsSurviveFailures(t *testing.T) {
	for _, p := range executionPlaces() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel() // it waits for leases most of the time
			open := func(t *testing.T) store.Store {
				t.Helper()
				s, err := openStore(t.Context(), p.open(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			}
			if p.name != "sqlite" { // a server serves all; a file takes one write at a time
				shared := open(t)
				open = func(*testing.T) store.Store { return shared }
			}
			nth := *every
			if testing.Short() {
				nth = 17
			}
			executiontest.Run(t, executiontest.Options{
				Lease: workLease, Every: nth, First: *firstCall, Open: open, Dispatcher: dispatcherOf,
			})
		})
	}
}

// workLease is the lease of the workers that crash, freeze and are killed.
const workLease = time.Second

// executeSteps is how many steps an execution of these processes has.
const executeSteps = 4

// newExecutionEngine returns an engine whose executions tell a file what their steps have returned.
func newExecutionEngine(state store.Store, seen io.Writer) (*execution.Engine, error) {
	do := func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
		var values []string
		for i := range executeSteps {
			value, err := run.Step(ctx, fmt.Sprint(i), func(context.Context) ([]byte, error) {
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // work, in which a process may end
				return json.Marshal(fmt.Sprintf("%d-%d", os.Getpid(), rand.Int64()))
			})
			if err != nil {
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
			}
			if _, err := fmt.Fprintf(seen, "%s %d %s\n", run.ID(), i, value); err != nil {
				panic(err)
			}
			values = append(values, string(value))
		}
		return []byte("[" + strings.Join(values, ",") + "]"), nil
	}
	return execution.New(execution.Options{
		Store: state, Dispatcher: dispatcherOf(state), Lease: workLease, Poll: workLease / 10, Slots: 4,
		Losses:     1000, // on a busy machine
		Logger:     slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"work": {Durable: true, Do: do}},
	})
}

// execute is a process that works with an engine until it is killed.
func execute(
	location, seenFile string, newEngine func(state store.Store, seen io.Writer) (*execution.Engine, error),
) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	seen, err := os.OpenFile(seenFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	e, err := newEngine(state, seen)
	if err != nil {
		return err
	}
	fmt.Println("works")
	return e.Work(ctx)
}

// Executions survive processes that are killed and frozen at random: none is lost or stuck, no step has two results,
// and nothing is left behind.
func TestExecutionsSurviveKillsAndFreezes(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for _, p := range executionPlaces() {
		t.Run(p.name, func(t *testing.T) {
			location, seen := p.open(t), filepath.Join(t.TempDir(), "seen")
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			e, err := newExecutionEngine(state, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			begin := func() *process {
				p := start(t, "execute", location, seen)
				p.line(t)
				return p
			}
			workers := []*process{begin(), begin(), begin()}
			var ids []string
			freezes := 0
			for round := range rounds {
				for i := range 30 {
					r, err := e.Start(t.Context(), execution.Start{
						Operation: "work", CallerKey: "ann", Once: fmt.Sprint(round, i),
					})
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, r.ID)
				}
				at := rand.IntN(len(workers))
				victim := workers[at]
				if round%2 == 0 {
					_ = victim.Process.Kill()
					_ = victim.Wait() // it was killed
					workers[at] = begin()
					continue
				}
				freezes++
				freeze(t, victim, state)
				soon(t, "the ends of executions beside a frozen process", func() bool { return allEnded(t, e, ids) })
				time.Sleep(time.Duration(rand.Int64N(int64(2 * workLease)))) // it may go on before and after its lease
				signal(t, victim, syscall.SIGCONT)
			}
			soon(t, "the ends of executions", func() bool { return allEnded(t, e, ids) })
			for _, w := range workers {
				_ = w.Process.Kill()
				_ = w.Wait() // it was killed
			}
			checkExecutions(t, e, ids, seen)
			t.Logf("%d executions, %d kills, %d freezes", len(ids), rounds-freezes, freezes)
		})
	}
}

// freeze stops a process where others go on: between its transactions, since one that is stopped within a transaction
// of SQLite keeps all others from writing.
func freeze(t *testing.T, p *process, state store.Store) {
	t.Helper()
	write := func(ctx context.Context) error {
		_, err := state.Put(ctx, fmt.Sprint("frozen/", rand.Uint64()), nil, 0, time.Minute)
		return err
	}
	for {
		signal(t, p, syscall.SIGSTOP)
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("stopping a process: %v, status %x", err, status)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := write(ctx)
		cancel()
		if err == nil {
			return
		}
		signal(t, p, syscall.SIGCONT)
		if err = write(t.Context()); err != nil { // which the transaction has let through
			t.Fatal(err)
		}
	}
}

func signal(t *testing.T, p *process, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func allEnded(t *testing.T, e *execution.Engine, ids []string) bool {
	t.Helper()
	for _, id := range ids {
		r, err := e.Get(t.Context(), "ann", id)
		if err != nil {
			t.Fatal(err)
		}
		if !r.State.Terminal() {
			return false
		}
	}
	return true
}

// checkExecutions looks at what executions have come to, and at what their steps were seen to return.
func checkExecutions(t *testing.T, e *execution.Engine, ids []string, seen string) {
	t.Helper()
	file, err := os.Open(seen)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	values := make(map[string]string)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			t.Fatalf("line %q", lines.Text())
		}
		step := fields[0] + " " + fields[1]
		if before, known := values[step]; known && before != fields[2] {
			t.Errorf("step %s has returned %s and %s", step, before, fields[2])
		}
		values[step] = fields[2]
	}
	again := 0
	for _, id := range ids {
		r, err := e.Get(t.Context(), "ann", id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Attempt > 1 {
			again++
		}
		var want []string
		for i := range executeSteps {
			want = append(want, values[fmt.Sprint(id, " ", i)])
		}
		if r.State != execution.Completed || string(r.Result) != "["+strings.Join(want, ",")+"]" {
			t.Errorf("%s is %s with %s, and its steps were seen to return %s: %+v", id, r.State, r.Result, want, r.Failure)
		}
	}
	if n, err := e.Walk(t.Context()); n != 0 || err != nil {
		t.Errorf("%d executions were forgotten: %v", n, err)
	}
	t.Logf("%d of %d executions were attempted again", again, len(ids))
}
