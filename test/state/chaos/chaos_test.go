package chaos

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aqltag/aqltag/internal/scratch"
)

var (
	seed  = flag.Uint64("seed", 0, "the seed of the plan and of the clients; 0: another each time")
	steps = flag.Int("steps", 0, "how many steps the plan has for each store; 0: 30, and 8 with -short")
	last  = flag.Duration("for", 0, "how long the plan goes on for each store, in place of -steps")
)

// clients is how many call at the same time.
const clients = 8

// REQ-CT-07, REQ-CT-09, REQ-CT-10, REQ-CT-13, REQ-CT-15, REQ-CT-16, REQ-EL-10, C9: whatever fails around the processes,
// and whichever of them die, nothing runs unconfirmed, nothing runs twice, no answer is wrong, and all is on record.
func TestChaos(t *testing.T) {
	switch {
	case *steps == 0 && testing.Short():
		*steps = 8
	case *steps == 0:
		*steps = 30
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s := *seed
			if s == 0 {
				s = rand.Uint64N(1 << 32)
			}
			t.Logf("seed %d", s)
			bells := 60
			if *last > 0 {
				bells = 1000 // so that it can ring for a while
			}
			w := newWorld(t, k, s, "", bounds{calls: 8, bells: bells, lifetime: lifetime})
			p := &planner{random: rand.New(rand.NewPCG(s, 0)), long: *last > 0}
			w.run(s, p, func(n int) bool { return n < *steps && *last == 0 || time.Since(w.began) < *last })
			for _, f := range w.faults {
				t.Error(f)
			}
			if t.Failed() {
				t.Logf("to repeat it: go -C test/state test ./chaos -run 'TestChaos/%s' -v -seed %d -steps %d -for %s",
					k.name, s, *steps, *last)
			}
		})
	}
}

// run follows a plan while clients call, and judges what happened.
func (w *world) run(seed uint64, p *planner, more func(n int) bool) {
	w.answer()
	w.began = time.Now()
	var callers sync.WaitGroup
	stop := make(chan struct{})
	for i := range clients {
		c := newClient(w, seed, i)
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					c.episode()
				}
			}
		})
	}
	counts := make(map[string]int)
	for n := 0; more(n); n++ {
		s := p.next(w)
		w.t.Logf("step %d: %s", n, s)
		w.follow(s, counts)
		if n%judgeEvery == judgeEvery-1 {
			w.judge(false)
		}
	}
	close(stop)
	callers.Wait()
	w.answer()
	w.end()
	w.judge(true)
	w.report(seed, counts)
}

// judgeEvery is how many steps there are between judgements, of which the last is that of everything.
const judgeEvery = 100

// follow lets a step of the plan happen.
func (w *world) follow(s step, counts map[string]int) {
	var ends []func()
	least := time.Duration(0)
	var killed []string
	before := w.history.answered()
	for _, f := range s.faults {
		ends = append(ends, f.begin(w))
		counts[f.counts]++
		least = max(least, f.least)
		if f.counts == "kills" {
			killed = append(killed, w.slot(f.on).audit)
		}
	}
	time.Sleep(least) // what is to pass, such as the time of a token
	for w.history.answered() < before+s.calls {
		time.Sleep(5 * time.Millisecond)
	}
	for _, end := range slices.Backward(ends) {
		end()
	}
	w.verify(true, killed...)
}

// judge adds what the model finds wrong.
func (w *world) judge(whole bool) {
	attempts := w.history.snapshot()
	journal := w.entries()
	limits := w.bounds
	limits.days = 1
	for day := w.began.UTC(); day.YearDay() != time.Now().UTC().YearDay(); day = day.Add(24 * time.Hour) {
		limits.days++
	}
	faults := judge(attempts, journal, limits, whole)
	if whole {
		faults = append(faults, onRecord(w.records(), journal)...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range faults {
		if !slices.Contains(w.faults, f) {
			w.faults = append(w.faults, f)
		}
	}
}

// answer waits until every process serves: it asks for a confirmation, and does what was confirmed. With a mutant it
// waits for any answer.
func (w *world) answer() {
	c := newClient(w, 0, -1)
	c.name = fmt.Sprintf("answer-%d", w.history.answered())
	for _, s := range w.slots {
		for ; ; time.Sleep(10 * time.Millisecond) {
			a := attempt{operation: "delete_thing", id: c.thing(), caller: c.thing()}
			got := c.try(s, a)
			if w.mutant != "" && (got.code != "" || got.verdict == success) {
				break
			}
			a.token, a.state, a.approved = got.token, got.state, true
			if a.presents() != "" && c.try(s, a).verdict == success {
				break
			}
		}
	}
}

// end ends the processes as a system does, and verifies their audit files.
func (w *world) end() {
	w.ending.Store(true)
	var files []string
	for _, s := range w.slots {
		s.mu.Lock()
		ended := s.ended
		if s.stdio {
			close(s.pipes.stop)
		} else {
			s.command.Process.Signal(syscall.SIGTERM)
		}
		s.mu.Unlock()
		<-ended
		files = append(files, s.audit)
	}
	w.verify(false, files...)
}

// report logs what happened.
func (w *world) report(seed uint64, counts map[string]int) {
	var happened []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		happened = append(happened, fmt.Sprintf("%d %s", counts[what], what))
	}
	var cut, held, delayed, turned int64
	for _, s := range w.slots {
		for _, p := range []*proxy{s.store, s.front} {
			if p != nil {
				cut += p.tallies.cut.Load()
				held += p.tallies.held.Load()
				delayed += p.tallies.delayed.Load()
				turned += p.tallies.refused.Load()
			}
		}
	}
	verdicts, runs := make(map[string]int), make(map[string]int)
	for _, a := range w.history.attempts {
		verdict := a.got.verdict.String()
		if a.got.code != "" {
			verdict = a.got.code
		}
		verdicts[verdict]++
	}
	for _, e := range w.entries() {
		runs[e.Operation]++
	}
	w.t.Logf("%s, seed %d: %d calls; answers %v; ran %v; plan: %s; %d connections cut, %d refused, %d messages held, "+
		"%d late; %d starts failed; %d audit files verified; %d faults", w.kind, seed, w.history.calls, verdicts, runs,
		strings.Join(happened, ", "), cut, turned, held, delayed, w.starts, w.verified, len(w.faults))
}

var build sync.Once

// programs builds the fixture and aql-tag.
func programs(t testing.TB) (fixture, aqlTag string) {
	t.Helper()
	build.Do(func() {
		root, err := scratch.Root()
		if err != nil {
			t.Fatal(err)
		}
		for from, what := range map[string]string{
			filepath.Join(root, "test", "state"): "./chaos/fixture", root: "./cmd/aql-tag",
		} {
			command := exec.Command("go", "build", "-o", built+string(filepath.Separator), what)
			command.Dir = from
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("building %s: %v\n%s", what, err, out)
			}
		}
	})
	return filepath.Join(built, "fixture"), filepath.Join(built, "aql-tag")
}

// built is the folder of the programs and of the worlds.
var built string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "aqlc") // t.TempDir is too long for sockets
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = folder
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		unmount(folder) // tests do not end by themselves then
		os.RemoveAll(folder)
		os.Exit(1)
	}()
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}
