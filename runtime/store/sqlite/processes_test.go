package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// other is the variable that makes the test binary one of the other processes of a test; its value says which.
const other = "AQL_TEST_PROCESS"

func TestMain(m *testing.M) {
	switch os.Getenv(other) {
	case "":
		os.Exit(m.Run())
	case "obey":
		obey()
	case "write":
		write(os.Args[1], os.Args[2])
	}
}

// obey does what each line of its input says, and answers with a line.
func obey() {
	var s *Store
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(answer(&s, strings.Fields(lines.Text())))
	}
}

func answer(s **Store, words []string) string {
	ctx := context.Background()
	var n int64
	if len(words) > 2 {
		fmt.Sscan(words[2], &n)
	}
	var err error
	if *s == nil && words[0] != "open" {
		return "nothing is open"
	}
	switch words[0] {
	case "open":
		*s, err = Open(ctx, words[1])
	case "close":
		err = (*s).Close()
	case "put":
		_, err = (*s).Put(ctx, words[1], []byte("taken"), store.Version(n), time.Minute)
	case "delete":
		err = (*s).Delete(ctx, words[1], store.Version(n))
	case "take":
		counts, failed := (*s).Take(ctx, []store.Claim{{Key: words[1], N: 1, Limit: n, Window: time.Hour}})
		if err = failed; err == nil && counts[0].Refused {
			return "lost"
		}
	}
	switch {
	case errors.Is(err, store.ErrConflict):
		return "lost"
	case err != nil:
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return "won"
}

// write puts, deletes and takes until it is killed, and says what it is about to do and what was done.
func write(path, name string) {
	ctx := context.Background()
	s, err := Open(ctx, path)
	for i := 0; err == nil; i++ {
		var version store.Version
		key := fmt.Sprintf("%s/%d", name, i)
		if version, err = s.Put(ctx, key, []byte(key), 0, time.Hour); err != nil {
			break
		}
		fmt.Println("put", key, version)
		if _, err = s.Take(ctx, []store.Claim{{Key: name, N: 1, Window: time.Hour}}); err != nil {
			break
		}
		fmt.Println("took", name, i+1)
		if i%3 == 0 {
			fmt.Println("deleting", key, version)
			err = s.Delete(ctx, key, version)
			fmt.Println("deleted", key, version)
		}
	}
	fmt.Println("failed", err, 0)
}

type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func start(t *testing.T, kind string, args ...string) *process {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, kind, exec.Command(binary, args...))
}

func startCommand(t *testing.T, kind string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd}
	p.cmd.Env = append(os.Environ(), other+"="+kind)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(stdout)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.stdin.Close()
		p.cmd.Wait()
	})
	return p
}

func (p *process) say(line string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, line); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) hear() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("a process ended: %v", p.lines.Err())
	}
	return p.lines.Text()
}

type processes []*process

func startAll(t *testing.T) processes {
	var all processes
	for range 4 {
		all = append(all, start(t, "obey"))
	}
	return all
}

// do has every process do the same at once, and returns how many won. None may fail.
func (all processes) do(line string) (won int) {
	for _, p := range all {
		p.say(line)
	}
	for _, p := range all {
		switch heard := p.hear(); heard {
		case "won":
			won++
		case "lost":
		default:
			p.t.Errorf("%s: %s", line, heard)
		}
	}
	return won
}

// REQ-CT-09, REQ-RQ-01: one token is redeemed once and a last place goes to one, whichever process asks.
func TestOneProcessWins(t *testing.T) {
	slow(t)
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	all := startAll(t)
	all.do("open " + path)
	for round := range 200 {
		key := fmt.Sprintf("race/%d", round)
		version, err := s.Put(t.Context(), key, []byte("free"), 0, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if won := all.do(fmt.Sprintf("put %s %d", key, version)); won != 1 {
			t.Fatalf("round %d: %d processes changed one version", round, won)
		}
		entry, err := s.Get(t.Context(), key)
		if err != nil || string(entry.Value) != "taken" {
			t.Fatalf("round %d: %q, %v", round, entry.Value, err)
		}
		if won := all.do(fmt.Sprintf("delete %s %d", key, entry.Version)); won != 1 {
			t.Fatalf("round %d: %d processes deleted one version", round, won)
		}
		const limit = 3
		for range limit - 1 {
			if _, err := s.Take(t.Context(), []store.Claim{{Key: key, N: 1, Limit: limit, Window: time.Hour}}); err != nil {
				t.Fatal(err)
			}
		}
		if won := all.do(fmt.Sprintf("take %s %d", key, limit)); won != 1 {
			t.Fatalf("round %d: %d processes took the last place", round, won)
		}
	}
	all.do("close")
}

// Processes that start together find, or make, one store.
func TestProcessesOpenANewFileTogether(t *testing.T) {
	slow(t)
	all := startAll(t)
	for round := range 50 {
		path := filepath.Join(t.TempDir(), "state.db")
		if won := all.do("open " + path); won != len(all) {
			t.Fatalf("round %d: %d opened it", round, won)
		}
		if won := all.do("put key 0"); won != 1 {
			t.Fatalf("round %d: %d made an entry", round, won)
		}
		all.do("close") // the last one removes the log while others open it again
		all.do("open " + path)
		all.do("close")
		intact(t, path)
	}
}

// slow leaves a test that starts processes to the slow tier.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("processes that are killed: make slow runs it")
	}
}

// What was acknowledged is there when a process was killed at any point, and what was deleted does not come back.
func TestKilledWriters(t *testing.T) {
	slow(t)
	path := filepath.Join(t.TempDir(), "state.db")
	versions := map[string]string{}
	acknowledged := 0
	for round := range 40 {
		var writers [3]*process
		for i := range writers {
			writers[i] = start(t, "write", path, fmt.Sprintf("%d/%d", round, i))
		}
		if !writers[0].lines.Scan() { // so that there is something to kill
			t.Fatal("a writer said nothing")
		}
		first := writers[0].lines.Text()
		time.Sleep(rand.N(20 * time.Millisecond))
		said := []string{first}
		for _, p := range writers {
			p.cmd.Process.Kill()
			time.Sleep(rand.N(2 * time.Millisecond))
		}
		for _, p := range writers {
			for p.lines.Scan() {
				said = append(said, p.lines.Text())
			}
		}
		intact(t, path)
		s := open(t, path)
		present, took := map[string]bool{}, map[string]int64{}
		for _, line := range said {
			var what, key string
			var number int64
			if n, _ := fmt.Sscan(line, &what, &key, &number); n != 3 {
				t.Fatalf("a writer said %q", line)
			}
			switch what {
			case "put":
				acknowledged++
				version := fmt.Sprint(number)
				if before := versions[version]; before != "" {
					t.Errorf("version %s was given to %s and to %s", version, before, key)
				}
				versions[version], present[key] = key, true
			case "took":
				took[key] = number
			case "deleting":
				delete(present, key)
			case "deleted":
				present[key] = false
			default:
				t.Fatalf("a writer said %q", line)
			}
		}
		for key, want := range present {
			if e, err := s.Get(t.Context(), key); err != nil || e.Exists() != want || want && string(e.Value) != key {
				t.Errorf("round %d: %s: %q of version %d, %v; want it there: %v", round, key, e.Value, e.Version, err, want)
			}
		}
		for key, want := range took {
			counts, err := s.Take(t.Context(), []store.Claim{{Key: key, Window: time.Hour}})
			if err != nil || counts[0].Used < want || counts[0].Used > want+1 {
				t.Errorf("round %d: counter %s: %+v, %v; want %d", round, key, counts, err, want)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d acknowledged puts", acknowledged)
}

// A process that is killed while it makes the file leaves one that the next process can open.
func TestKilledWhileMakingTheFile(t *testing.T) {
	slow(t)
	for range 40 {
		path := filepath.Join(t.TempDir(), "state.db")
		p := start(t, "obey")
		p.say("close") // fails, and shows that it runs
		p.hear()
		p.say("open " + path)
		time.Sleep(rand.N(3 * time.Millisecond))
		p.cmd.Process.Kill()
		s := open(t, path)
		if _, err := s.Put(t.Context(), "a", nil, 0, 0); err != nil {
			t.Fatal(err)
		}
		intact(t, path)
	}
}

func intact(t *testing.T, path string) {
	t.Helper()
	db, err := openDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity: %s, %v", verdict, err)
	}
}
