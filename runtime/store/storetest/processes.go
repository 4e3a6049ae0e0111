package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Open opens a store at a location, as store.Driver.Open does.
type Open func(ctx context.Context, location string) (store.Store, error)

// processVariable makes the test binary one of the processes of StartProcesses.
const processVariable = "AQL_STORETEST_PROCESS"

// patience bounds one operation of a process. It is long, so that no machine is too slow.
const patience = 10 * time.Minute

// Main runs the tests of a package and returns the exit code. TestMain of a package whose tests call RunProcesses or
// StartProcesses calls it: in a process that they have started, Main obeys commands and runs no tests.
func Main(m *testing.M, open Open) int {
	if os.Getenv(processVariable) == "" {
		return m.Run()
	}
	p := process{open: open}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		results, err := p.obey(strings.Fields(lines.Text()))
		if err != nil {
			fmt.Println("failed:", strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		fmt.Println(results...)
	}
	return 0
}

// process is a process that obeys commands.
type process struct {
	open  Open
	store store.Store
}

// obey runs a command and returns what succeeded: 1 for a change that was made, 0 for one that another process
// prevented.
func (p *process) obey(command []string) ([]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var key string
	var version store.Version
	if len(command) > 2 {
		key = command[1]
		if _, err := fmt.Sscan(command[2], &version); err != nil {
			return nil, err
		}
	}
	switch {
	case command[0] == "open":
		var err error
		p.store, err = p.open(ctx, command[1])
		return []any{1}, err
	case p.store == nil:
		return nil, errors.New("no store is open")
	case command[0] == "close":
		return []any{1}, p.store.Close()
	case command[0] == "delete":
		return outcomes(func() error { return p.store.Delete(ctx, key, version) })
	case command[0] == "put":
		return outcomes(func() error { return p.put(ctx, key, version) })
	case command[0] == "race":
		return outcomes(
			func() error { return p.put(ctx, key, version) },
			func() error { return p.put(ctx, key+"/new", 0) },
			func() error { return p.takeLast(ctx, key) },
		)
	}
	return nil, fmt.Errorf("there is no command %q", command[0])
}

func (p *process) put(ctx context.Context, key string, old store.Version) error {
	_, err := p.store.Put(ctx, key, []byte("taken"), old, time.Hour)
	return err
}

// takeLast takes the last place of a counter together with a place of a counter that all processes share. Every other
// process claims them in the other order.
func (p *process) takeLast(ctx context.Context, key string) error {
	claims := []store.Claim{lastPlaceOf(key), sharedPlace}
	if os.Getpid()%2 == 0 {
		claims[0], claims[1] = claims[1], claims[0]
	}
	counts, err := p.store.Take(ctx, claims)
	if err == nil && (counts[0].Refused || counts[1].Refused) {
		return store.ErrConflict
	}
	return err
}

// sharedPlace claims a place of the counter that all races share.
var sharedPlace = store.Claim{Key: "race", N: 1, Window: 24 * time.Hour}

// lastPlaceOf claims one of three places of a counter: of a window for every other key, and of a period for the rest.
func lastPlaceOf(key string) store.Claim {
	if key[len(key)-1]%2 == 0 {
		return store.Claim{Key: key, N: 1, Limit: 3, Window: 24 * time.Hour}
	}
	return store.Claim{Key: key, N: 1, Limit: 3, Ends: time.UnixMilli(4_000_000_000_000)}
}

// outcomes runs changes at the same time. A change that fails with store.ErrConflict has the outcome 0.
func outcomes(changes ...func() error) ([]any, error) {
	results := make([]any, len(changes))
	failures := make([]error, len(changes))
	var wg sync.WaitGroup
	for i, change := range changes {
		wg.Go(func() {
			switch err := change(); {
			case err == nil:
				results[i] = 1
			case errors.Is(err, store.ErrConflict):
				results[i] = 0
			default:
				failures[i] = err
			}
		})
	}
	wg.Wait()
	return results, errors.Join(failures...)
}

// Processes are other processes that run the test binary. They end with the test.
type Processes struct {
	t     *testing.T
	all   []running
	turns int
}

type running struct {
	commands io.Writer
	results  *bufio.Scanner
}

// StartProcesses starts n processes, which wait for commands. TestMain must call Main.
func StartProcesses(t *testing.T, n int) *Processes {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Processes{t: t}
	for range n {
		cmd := exec.Command(binary) // it ends when its input does
		cmd.Env = append(os.Environ(), processVariable+"=1")
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			if err := cmd.Wait(); err != nil && !t.Failed() {
				t.Errorf("a process ended with %v", err)
			}
		})
		p.all = append(p.all, running{in, bufio.NewScanner(out)})
	}
	return p
}

// Do sends a command to every process at the same time, and returns how often each of its changes succeeded. The
// commands are: open LOCATION, close, put KEY VERSION, delete KEY VERSION, and race KEY VERSION, which at the same time
// puts the key, puts the new key KEY/new, and takes the last place of the counter KEY.
func (p *Processes) Do(command string, args ...any) []int {
	p.t.Helper()
	line := strings.TrimSuffix(fmt.Sprintln(append([]any{command}, args...)...), "\n")
	p.turns++
	for i := range p.all { // another process is the first each time
		if _, err := fmt.Fprintln(p.all[(i+p.turns)%len(p.all)].commands, line); err != nil {
			p.t.Fatal(err)
		}
	}
	var succeeded []int
	for _, process := range p.all {
		if !process.results.Scan() {
			p.t.Fatalf("%s: a process has ended: %v", line, process.results.Err())
		}
		results := strings.Fields(process.results.Text())
		if succeeded == nil {
			succeeded = make([]int, len(results))
		}
		for i, result := range results {
			var n int
			if _, err := fmt.Sscan(result, &n); err != nil || i >= len(succeeded) {
				p.t.Fatalf("%s: %s", line, process.results.Text())
			}
			succeeded[i] += n
		}
	}
	return succeeded
}

// RunProcesses tests a store that several processes share, at a location that is empty at first: of all that change or
// create or delete one entry, or take the last place of a counter, exactly one succeeds. open opens the location in
// this process. TestMain must call Main. It takes some seconds.
func RunProcesses(t *testing.T, location string, open func(t *testing.T) store.Store) {
	const rounds = 200
	s := open(t)
	processes := StartProcesses(t, 4)
	processes.Do("open", location)
	for round := range rounds {
		key := fmt.Sprintf("race/%d", round)
		claim := lastPlaceOf(key)
		claim.N = claim.Limit - 1
		if counts := take(t, s, claim); counts[0].Used != claim.N {
			t.Fatalf("round %d: %+v", round, counts)
		}
		version := put(t, s, key, "free", 0, time.Hour)
		if won := processes.Do("race", key, version); won[0] != 1 || won[1] != 1 || won[2] != 1 {
			t.Fatalf("round %d: %d processes changed an entry, %d created one, %d took the last place of a counter",
				round, won[0], won[1], won[2])
		}
		entry, err := s.Get(t.Context(), key)
		if err != nil || string(entry.Value) != "taken" {
			t.Fatalf("round %d: %q, %v", round, entry.Value, err)
		}
		if won := processes.Do("delete", key, entry.Version); won[0] != 1 {
			t.Fatalf("round %d: %d processes deleted one version", round, won[0])
		}
	}
	shared := sharedPlace
	shared.N = 0
	if used := take(t, s, shared)[0].Used; used != rounds {
		t.Errorf("%d places were taken, want %d", used, rounds)
	}
	processes.Do("close")
}
