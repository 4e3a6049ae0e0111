package state

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// What the figures are measured with.
const (
	measuredSteps     = 5
	measuredWork      = 10 * time.Millisecond // of a step
	measuredProcesses = 3
	measuredSlots     = 16
	measuredUnderWay  = 30 // executions, for which two of the processes have room
	measuredLease     = 3 * time.Second
	betweenKills      = 700 * time.Millisecond
)

// measured is how many executions are measured, and with how many kills: with -short so few that CI can see whether the
// benchmark still runs.
func measured() (executions int, kills []int) {
	if testing.Short() {
		return 200, []int{1}
	}
	return 2000, []int{0, 8}
}

// BenchmarkFleet measures the two engines on PostgreSQL one after the other, without and with processes that are
// killed, and prints the table of docs/executions.md:
//
//	go -C test/state test -run '^$' -bench Fleet -benchtime 1x
func BenchmarkFleet(b *testing.B) {
	var table strings.Builder
	executions, rows := measured()
	fmt.Fprintf(&table, "%d executions of %d steps of %v, %d at a time; %d processes with %d slots each; "+
		"lease %v; %d CPUs\n\n", executions, measuredSteps, measuredWork, measuredUnderWay, measuredProcesses,
		measuredSlots, measuredLease, runtime.NumCPU())
	fmt.Fprintln(&table, "| engine | kills | executions | takeover: min, median, max (number) | steps repeated |")
	fmt.Fprintln(&table, "| --- | --- | --- | --- | --- |")
	for b.Loop() {
		for _, engine := range []struct{ name, before string }{{"the store", ""}, {"River", byRiver}} {
			for _, kills := range rows {
				fmt.Fprintln(&table, measureFleet(b, engine.before+postgrestest.Start(b).Location(), kills).row(engine.name))
			}
		}
	}
	fmt.Println(table.String())
}

// figures are what was measured.
type figures struct {
	executions int
	kills      int
	took       time.Duration
	takeovers  []time.Duration
	repeated   int // steps that were done more than once
}

func (f *figures) row(engine string) string {
	takeover, executions := "–", float64(f.executions)
	if n := len(f.takeovers); n > 0 {
		slices.Sort(f.takeovers)
		takeover = fmt.Sprintf("%.1f, %.1f, %.1f s (%d)", f.takeovers[0].Seconds(), f.takeovers[n/2].Seconds(),
			f.takeovers[n-1].Seconds(), n)
	}
	return fmt.Sprintf("| %s | %d | %.0f/s | %s | %d of %d |", engine, f.kills, executions/f.took.Seconds(),
		takeover, f.repeated, f.executions*measuredSteps)
}

func newMeasuredEngine(state store.Store, seen io.Writer) (*execution.Engine, error) {
	do := func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
		tell := func(what string) {
			if _, err := fmt.Fprintln(seen, time.Now().UnixNano(), os.Getpid(), run.ID(), what); err != nil {
				panic(err)
			}
		}
		tell("begin")
		for i := range measuredSteps {
			_, err := run.Step(ctx, fmt.Sprint(i), func(context.Context) ([]byte, error) {
				tell(fmt.Sprint(i))
				time.Sleep(measuredWork)
				return []byte("1"), nil
			})
			if err != nil {
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
			}
		}
		return []byte("1"), nil
	}
	return execution.New(execution.Options{
		Store: state, Dispatcher: dispatcherOf(state), Slots: measuredSlots, Lease: measuredLease,
		Losses:     1000, // on a busy machine
		Logger:     slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"work": {Durable: true, Do: do}},
	})
}

// measureFleet starts processes and executions, and kills some of the processes.
func measureFleet(b *testing.B, location string, kills int) *figures {
	b.Helper()
	seen := filepath.Join(b.TempDir(), "seen")
	state, err := openStore(b.Context(), location)
	if err != nil {
		b.Fatal(err)
	}
	defer state.Close()
	e, err := newMeasuredEngine(state, io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	var workers []*process
	for range measuredProcesses {
		w := start(b, "measure", location, seen)
		w.line(b)
		workers = append(workers, w)
	}
	executions, _ := measured()
	began := time.Now()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		executeMany(b, e, executions)
	}()
	killed := make(map[string]time.Time) // by the process
	next := time.NewTicker(betweenKills)
	defer next.Stop()
	for under := true; under; {
		select {
		case <-ended:
			under = false
		case <-next.C:
			if len(killed) == kills {
				continue
			}
			at := rand.IntN(len(workers))
			killed[fmt.Sprint(workers[at].Process.Pid)] = time.Now()
			_ = workers[at].Process.Kill()
			_ = workers[at].Wait() // it was killed
			workers[at] = start(b, "measure", location, seen)
			workers[at].line(b)
		}
	}
	f := &figures{executions: executions, kills: len(killed), took: time.Since(began)}
	for _, w := range workers {
		_ = w.Process.Kill()
		_ = w.Wait() // it was killed
	}
	f.read(b, seen, killed)
	return f
}

// executeMany starts executions as others end, and waits for the ends.
func executeMany(b *testing.B, e *execution.Engine, n int) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range measuredUnderWay {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				r, err := e.Start(b.Context(), execution.Start{Operation: "work", CallerKey: "ann"})
				for err == nil && !r.State.Terminal() {
					r, err = e.Wait(b.Context(), "ann", r.ID, r.Version(), time.Minute)
				}
				if err != nil || r.State != execution.Completed {
					b.Errorf("an execution is %+v: %v", r, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// read reads what processes have told of their attempts and steps.
func (f *figures) read(b *testing.B, seen string, killed map[string]time.Time) {
	b.Helper()
	file, err := os.Open(seen)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	by, done := make(map[string]string), make(map[string]int)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var at int64
		var process, id, what string
		if _, err := fmt.Sscan(lines.Text(), &at, &process, &id, &what); err != nil {
			b.Fatalf("line %q: %v", lines.Text(), err)
		}
		if what != "begin" {
			done[id+" "+what]++
			continue
		}
		if kill, was := killed[by[id]]; was {
			f.takeovers = append(f.takeovers, time.Unix(0, at).Sub(kill))
		}
		by[id] = process
	}
	for _, n := range done {
		if n > 1 {
			f.repeated++
		}
	}
}
