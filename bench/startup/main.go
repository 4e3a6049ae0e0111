// Command startup measures the time from the start of an adapter to its first answer on stdio, and the memory that the
// adapter then holds; and, without a transport, what adapters of 1,000 and 10,000 operations cost until they have
// answered what an agent asks first. It prints medians.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"startup","version":"1"}}}`
	introspect = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp_aql_read",` +
		`"arguments":{"operation":"introspect","params":{"query":"operations"}}}}`
)

func main() {
	built := flag.String("adapter", "", "the built adapter")
	starts := flag.Int("starts", 20, "how many starts to measure")
	operations := flag.Int("operations", 0, "make an adapter of so many operations in this process, and print its figures")
	mode := flag.String("mode", "", "the `mode` of that adapter")
	flag.Parse()
	if err := run(*built, *starts, *operations, aql.Mode(*mode)); err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
		os.Exit(1)
	}
}

func run(built string, starts, operations int, mode aql.Mode) error {
	if operations > 0 {
		f, err := adapter(context.Background(), operations, mode)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	if starts < 1 {
		return fmt.Errorf("%d starts measure nothing", starts)
	}
	if err := reportBuilt(built, starts); err != nil {
		return err
	}
	return reportLarge((starts + 3) / 4)
}

// reportBuilt prints what a built adapter costs.
func reportBuilt(adapter string, starts int) error {
	dir, err := os.MkdirTemp("", "startup")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var times []time.Duration
	var memory []int
	for range starts {
		elapsed, kib, err := start(adapter, filepath.Join(dir, "todo.db"))
		if err != nil {
			return fmt.Errorf("starting %s: %w", adapter, err)
		}
		times, memory = append(times, elapsed), append(memory, kib)
	}
	slices.Sort(times)
	slices.Sort(memory)
	round := func(t time.Duration) time.Duration { return t.Round(100 * time.Microsecond) }
	fmt.Printf("start to first answer on stdio: median %v (%v to %v)\n",
		round(times[starts/2]), round(times[0]), round(times[starts-1]))
	if memory[starts/2] > 0 {
		fmt.Printf("resident memory then:           median %.1f MiB\n", float64(memory[starts/2])/1024)
	}
	return nil
}

// start runs the adapter until it has answered, and returns the time and its resident memory in KiB.
func start(adapter, db string) (time.Duration, int, error) {
	began := time.Now()
	command := exec.Command(adapter, "-db", db, "-log-level", "error")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := command.Start(); err != nil {
		return 0, 0, err
	}
	lines := bufio.NewReader(out)
	for _, request := range []string{initialize, introspect} {
		if _, err := fmt.Fprintln(in, request); err != nil {
			return 0, 0, err
		}
		answer, err := lines.ReadBytes('\n')
		if err != nil {
			return 0, 0, fmt.Errorf("reading the answer: %w", err)
		}
		var message struct{ Result json.RawMessage }
		if err := json.Unmarshal(answer, &message); err != nil || message.Result == nil {
			return 0, 0, fmt.Errorf("unexpected answer %s", answer)
		}
	}
	elapsed := time.Since(began)
	memory := residentMemory(command.Process.Pid)
	if err := in.Close(); err != nil {
		return 0, 0, err
	}
	return elapsed, memory, command.Wait()
}

// residentMemory returns the resident memory of a process in KiB on Linux, and 0 elsewhere.
func residentMemory(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return kib
		}
	}
	return 0
}
