package state

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// newPausingEngine returns an engine whose executions ask a person, and then their caller.
func newPausingEngine(state store.Store) (*execution.Engine, error) {
	look := func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
		return nil, execution.Waiting{Until: time.Now().Add(time.Hour)}, nil
	}
	do := func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
		decided, err := run.Await(ctx, execution.FromPerson, "may I?", look)
		if err != nil {
			return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
		}
		answer, err := run.Await(ctx, execution.FromCaller, "what", look)
		if err != nil {
			return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
		}
		return fmt.Appendf(nil, "[%s,%s]", decided, answer), nil
	}
	return execution.New(execution.Options{
		Store: state, Dispatcher: dispatcherOf(state), Name: "pausing", Lease: workLease, Poll: workLease / 10, Slots: 4,
		Losses: 1000, // on a busy machine
		Logger: slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"work": {
			Durable: true, Do: do,
			Decided: func(ctx context.Context, r *execution.Record) ([]byte, error) {
				entry, err := state.Get(ctx, "decision/"+r.ID)
				return entry.Value, err
			},
		}},
	})
}

// answerExecutions is a process that works, answers whatever waits for an answer, and tells a file which of its answers
// counted.
func answerExecutions(location, countedFile string) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	counted, err := os.OpenFile(countedFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	e, err := newPausingEngine(state)
	if err != nil {
		return err
	}
	fmt.Println("works")
	go answerAll(ctx, e, counted)
	return e.Work(ctx)
}

func answerAll(ctx context.Context, e *execution.Engine, counted *os.File) {
	for ; ; time.Sleep(time.Millisecond) {
		page, err := e.List(ctx, execution.Query{CallerKey: "ann", State: execution.Paused, First: 100})
		if err != nil {
			continue // another look
		}
		for _, r := range page.Records {
			_, err := e.Answer(ctx, "ann", r.ID, "what", fmt.Appendf(nil, "%d", os.Getpid()))
			if illegal := (*execution.StateError)(nil); err == nil {
				if _, err := fmt.Fprintf(counted, "%s %d\n", r.ID, os.Getpid()); err != nil {
					panic(err)
				}
			} else if !errors.As(err, &illegal) {
				break
			}
		}
	}
}

// Of the answers of several processes one counts, and whoever gave it is told so, also where processes are killed and
// frozen. What was decided while no process ran counts as soon as one does.
func TestAnswersOfSeveralProcesses(t *testing.T) {
	executions := 60
	if testing.Short() {
		executions = 20
	}
	for _, p := range executionPlaces() {
		t.Run(p.name, func(t *testing.T) {
			location, counted := p.open(t), filepath.Join(t.TempDir(), "counted")
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			e, err := newPausingEngine(state)
			if err != nil {
				t.Fatal(err)
			}
			begin := func() *process {
				p := start(t, "answer", location, counted)
				p.line(t)
				return p
			}
			end := func(p *process) {
				_ = p.Process.Kill()
				_ = p.Wait() // it was killed
			}
			var ids []string
			for range executions {
				r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: "ann"})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, r.ID)
			}
			first := begin()
			soon(t, "all executions to ask", func() bool {
				for _, id := range ids {
					if r, err := e.Get(t.Context(), "ann", id); err != nil || r.State != execution.Paused {
						return false
					}
				}
				return true
			})
			end(first)
			for i, id := range ids {
				if _, err := state.Put(t.Context(), "decision/"+id, fmt.Appendf(nil, "%d", i), 0, 0); err != nil {
					t.Fatal(err)
				}
			}
			workers := []*process{begin(), begin(), begin()}
			counts := func(n int) func() bool {
				return func() bool { return len(readCounted(t, counted)) >= n }
			}
			soon(t, "some answers", counts(executions/4))
			end(workers[0])
			soon(t, "more answers", counts(executions/3))
			signal(t, workers[1], syscall.SIGSTOP)
			time.Sleep(2 * workLease) // it loses its lease, and may have held a lock of the store until it goes on
			signal(t, workers[1], syscall.SIGCONT)
			soon(t, "the ends of executions", func() bool { return allEnded(t, e, ids) })
			end(workers[1])
			end(workers[2])
			told := readCounted(t, counted)
			for i, id := range ids {
				r, err := e.Get(t.Context(), "ann", id)
				if err != nil {
					t.Fatal(err)
				}
				by, known := told[id]
				prefix, suffix := fmt.Sprintf("[%d,", i), by+"]"
				if r.State != execution.Completed || !strings.HasPrefix(string(r.Result), prefix) ||
					known && !strings.HasSuffix(string(r.Result), ","+suffix) {
					t.Errorf("%s is %s with %s, and the answer of %q counted: %+v", id, r.State, r.Result, by, r.Failure)
				}
			}
			if n, err := e.Walk(t.Context()); n != 0 || err != nil {
				t.Errorf("%d executions were forgotten: %v", n, err)
			}
		})
	}
}

// readCounted returns by whom each execution was answered whose answer counted.
func readCounted(t *testing.T, name string) map[string]string {
	t.Helper()
	counted := make(map[string]string)
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		id, by, _ := strings.Cut(lines.Text(), " ")
		if before, known := counted[id]; known {
			t.Errorf("answers of %s and %s to %s counted", before, by, id)
		}
		counted[id] = by
	}
	return counted
}
