package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

// writerVariable makes the test binary a process that writes.
const writerVariable = "AQL_TEST_WRITER"

func TestMain(m *testing.M) {
	if os.Getenv(writerVariable) != "" {
		write(os.Args[1], os.Args[2])
		return
	}
	os.Exit(storetest.Main(m, func(ctx context.Context, location string) (store.Store, error) {
		return Open(ctx, location)
	}))
}

// write puts, deletes and takes until it is killed, and prints what it is about to do and what was done.
func write(path, name string) {
	ctx := context.Background()
	fmt.Println("started", name, 0)
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

// writerProcess is a process that writes.
type writerProcess struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner // that it prints
}

func startWriter(t *testing.T, path, name string) writerProcess {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, exec.Command(binary, path, name))
}

// startCommand starts the test binary as a writer, and returns when it runs.
func startCommand(t *testing.T, cmd *exec.Cmd) writerProcess {
	t.Helper()
	cmd.Env = append(os.Environ(), writerVariable+"=1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w := writerProcess{cmd: cmd, lines: bufio.NewScanner(stdout)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if !w.lines.Scan() || !strings.HasPrefix(w.lines.Text(), "started") {
		t.Fatalf("a writer printed %q", w.lines.Text())
	}
	return w
}

// Processes of one host share a file (REQ-CT-09, REQ-RQ-01).
func TestProcesses(t *testing.T) {
	slow(t)
	path := filepath.Join(t.TempDir(), "state.db")
	storetest.RunProcesses(t, path, func(t *testing.T) store.Store { return open(t, path) })
}

// Processes that start together find, or create, one store.
func TestProcessesOpenANewFileTogether(t *testing.T) {
	slow(t)
	const n = 4
	processes := storetest.StartProcesses(t, n)
	for round := range 50 {
		path := filepath.Join(t.TempDir(), "state.db")
		if opened := processes.Do("open", path); opened[0] != n {
			t.Fatalf("round %d: %d opened it", round, opened[0])
		}
		if won := processes.Do("put", "key", 0); won[0] != 1 {
			t.Fatalf("round %d: %d created an entry", round, won[0])
		}
		processes.Do("close") // the last one removes the log while others open it again
		processes.Do("open", path)
		processes.Do("close")
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
		var writers [3]writerProcess
		for i := range writers {
			writers[i] = startWriter(t, path, fmt.Sprintf("%d/%d", round, i))
		}
		if !writers[0].lines.Scan() { // so that it has begun to write
			t.Fatal("a writer printed nothing")
		}
		printed := []string{writers[0].lines.Text()}
		time.Sleep(rand.N(20 * time.Millisecond))
		for _, p := range writers {
			p.cmd.Process.Kill()
			time.Sleep(rand.N(2 * time.Millisecond))
		}
		for _, p := range writers {
			for p.lines.Scan() {
				printed = append(printed, p.lines.Text())
			}
		}
		intact(t, path)
		s := open(t, path)
		present, took := map[string]bool{}, map[string]int64{}
		for _, line := range printed {
			var what, key string
			var number int64
			if n, _ := fmt.Sscan(line, &what, &key, &number); n != 3 {
				t.Fatalf("a writer printed %q", line)
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
				t.Fatalf("a writer printed %q", line)
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
		w := startWriter(t, path, "name")
		time.Sleep(rand.N(3 * time.Millisecond))
		w.cmd.Process.Kill()
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
