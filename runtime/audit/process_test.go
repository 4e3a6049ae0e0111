package audit_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// The test binary is also the process that the tests below start, several at a time, and kill.
func TestMain(m *testing.M) {
	if path := os.Getenv("AUDIT_TEST_FILE"); path != "" {
		if err := writeAsProcess(path, os.Getenv("AUDIT_TEST_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeAsProcess writes records from several goroutines through a log, and prints the request id of each when it is
// acknowledged.
func writeAsProcess(path, name string) error {
	const writers = 4
	each, err := strconv.Atoi(os.Getenv("AUDIT_TEST_EACH"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	opts := audit.FileOptions{Key: secret}
	if size := os.Getenv("AUDIT_TEST_SIZE"); size != "" {
		if opts.MaxSize, err = strconv.ParseInt(size, 10, 64); err != nil {
			return err
		}
	}
	file, err := audit.OpenFile(ctx, path, opts)
	if err != nil {
		return err
	}
	if step := os.Getenv("AUDIT_TEST_DIE"); step != "" {
		left := 3 // rotations
		audit.OnStep(file, func(reached string) {
			if left--; reached == step && left <= 0 {
				killMyself()
			}
		})
	}
	l := audit.New(audit.Options{Sinks: []audit.Sink{file}, Wait: true})
	var wg sync.WaitGroup
	var out sync.Mutex
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				r := full()
				r.ID, r.RequestID = 0, fmt.Sprintf("%s.%d.%d", name, w, i)
				r.Parameters = json.RawMessage(`{"text":"` + strings.Repeat("x", i%7*500) + `"}`)
				if err := l.Write(ctx, r); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				out.Lock()
				fmt.Println(r.RequestID)
				out.Unlock()
			}
		})
	}
	wg.Wait()
	return l.Close(ctx)
}

func process(t *testing.T, path, name string, each int) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_TEST_FILE="+path, "AUDIT_TEST_NAME="+name, "AUDIT_TEST_EACH="+strconv.Itoa(each))
	return cmd
}

// killMyself ends the process as kill -9 does.
func killMyself() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Kill()
	}
	select {}
}

// keptIn counts the records of a file, and of those that were closed before it, by their request id.
func keptIn(t *testing.T, path string) map[string]int {
	t.Helper()
	closed, err := filepath.Glob(path + ".[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	for _, name := range append(closed, path) {
		for line := range bytes.Lines(read(t, name)) {
			var r struct {
				RequestID string `json:"request_id"`
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if r.RequestID != "" { // it is not about files
				kept[r.RequestID]++
			}
		}
	}
	return kept
}

// Four processes append to one file: all of their records are there, once, in one chain.
func TestProcessesShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var wg sync.WaitGroup
	for p := range 4 {
		cmd := process(t, path, fmt.Sprint("p", p), 50)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil || bytes.Count(out, []byte("\n")) != 200 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	if s := verify(t, path, secret); s.Records != 800 {
		t.Errorf("%d records, want 800", s.Records)
	}
	kept := keptIn(t, path)
	for id, n := range kept {
		if n != 1 {
			t.Errorf("record %s is there %d times", id, n)
		}
	}
	if len(kept) != 800 {
		t.Errorf("%d records, want 800", len(kept))
	}
}

// Two processes at a time are killed at a random moment, for fifty rounds, all on one file: no record that was
// acknowledged is lost, none is there twice, and the chain verifies.
func TestKilledProcessesLoseNothing(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for round := range rounds {
		var wg sync.WaitGroup
		for p := range 2 {
			cmd := process(t, path, fmt.Sprintf("%d.%d", round, p), 1_000_000)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			enough := 1 + rand.IntN(60)
			wg.Go(func() {
				n := 0
				lines := bufio.NewReader(stdout)
				for {
					text, err := lines.ReadString('\n')
					if err == io.EOF {
						break // an incomplete line
					}
					if err != nil {
						t.Error(err)
						break
					}
					mu.Lock()
					acknowledged[strings.TrimSpace(text)] = true
					mu.Unlock()
					if n++; n == enough {
						cmd.Process.Kill()
					}
				}
				cmd.Wait()
				if stderr.Len() > 0 || n < enough {
					t.Errorf("%d records were acknowledged\n%s", n, &stderr)
				}
			})
		}
		wg.Wait()
	}
	open(t, path, secret) // cuts off what the last ones have not finished
	verify(t, path, secret)
	kept := keptIn(t, path)
	for id := range acknowledged {
		if kept[id] != 1 {
			t.Errorf("record %s was acknowledged, and is there %d times", id, kept[id])
		}
	}
	t.Logf("%d records acknowledged, %d kept", len(acknowledged), len(kept))
}
