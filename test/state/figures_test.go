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
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// What the figures are measured with.
const (
	measuredExecutions = 2000
	measuredSteps      = 5
	measuredWork       = 10 * time.Millisecond // of a step
	measuredProcesses  = 3
	measuredSlots      = 16
	measuredLease      = 3 * time.Second
	measuredKills      = 8
	betweenKills       = 700 * time.Millisecond
)

// BenchmarkFleet measures the two engines on PostgreSQL one after the other, without and with processes that are
// killed, and prints the table of docs/executions.md:
//
//	go -C test/state test -run '^$' -bench Fleet -benchtime 1x
func BenchmarkFleet(b *testing.B) {
	var table strings.Builder
	fmt.Fprintf(&table, "%d executions of %d steps of %v; %d processes with %d slots each; lease %v; %d CPUs\n\n",
		measuredExecutions, measuredSteps, measuredWork, measuredProcesses, measuredSlots, measuredLease, runtime.NumCPU())
	fmt.Fprintln(&table, "| engine | kills | starts | executions | takeover: min, median, max | steps done twice |")
	fmt.Fprintln(&table, "| --- | --- | --- | --- | --- | --- |")
	for b.Loop() {
		for _, engine := range []struct{ name, before string }{{"the store", ""}, {"River", byRiver}} {
			for _, kills := range []int{0, measuredKills} {
				fmt.Fprintln(&table, measureFleet(b, engine.before+postgrestest.Start(b).Location(), kills).row(engine.name))
			}
		}
	}
	fmt.Println(table.String())
}

// figures are what was measured.
type figures struct {
	kills            int
	starting, ending time.Duration
	takeovers        []time.Duration
	repeated         int // steps that were done more than once
}

func (f *figures) row(engine string) string {
	perSecond := func(d time.Duration) string { return fmt.Sprintf("%.0f/s", measuredExecutions/d.Seconds()) }
	takeover := "–"
	if n := len(f.takeovers); n > 0 {
		slices.Sort(f.takeovers)
		takeover = fmt.Sprintf("%.1f, %.1f, %.1f s (%d)", f.takeovers[0].Seconds(), f.takeovers[n/2].Seconds(),
			f.takeovers[n-1].Seconds(), n)
	}
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %d of %d |", engine, f.kills, perSecond(f.starting),
		perSecond(f.ending), takeover, f.repeated, measuredExecutions*measuredSteps)
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
		Logger:     slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"work": {Durable: true, Do: do}},
	})
}

// measure is a process that works until it is killed.
func measure(location, seenFile string) error {
	ctx := context.Background()
	state, err := openStore(ctx, location)
	if err != nil {
		return err
	}
	seen, err := os.OpenFile(seenFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	e, err := newMeasuredEngine(state, seen)
	if err != nil {
		return err
	}
	fmt.Println("works")
	return e.Work(ctx)
}

// measureFleet starts executions, and then the processes that run them.
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
	f := &figures{kills: kills}
	var ids []string
	began := time.Now()
	for range measuredExecutions {
		r, err := e.Start(b.Context(), execution.Start{Operation: "work", CallerKey: "ann"})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	f.starting = time.Since(began)
	began = time.Now()
	var workers []*process
	for range measuredProcesses {
		workers = append(workers, start(b, "measure", location, seen))
	}
	for _, w := range workers {
		w.line(b)
	}
	killed := make(map[string]time.Time) // by the process
	next := time.Now().Add(betweenKills)
	for len(ids) > 0 {
		if len(killed) < kills && time.Now().After(next) {
			at := rand.IntN(len(workers))
			killed[fmt.Sprint(workers[at].Process.Pid)] = time.Now()
			_ = workers[at].Process.Kill()
			_ = workers[at].Wait() // it was killed
			workers[at] = start(b, "measure", location, seen)
			workers[at].line(b)
			next = time.Now().Add(betweenKills)
		}
		r, err := e.Get(b.Context(), "ann", ids[0])
		switch {
		case err != nil:
			b.Fatal(err)
		case r.State == execution.Completed:
			ids = ids[1:]
		case r.State.Terminal():
			b.Fatalf("an execution is %s", r.State)
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
	f.kills, f.ending = len(killed), time.Since(began)
	for _, w := range workers {
		_ = w.Process.Kill()
		_ = w.Wait() // it was killed
	}
	f.read(b, seen, killed)
	return f
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
