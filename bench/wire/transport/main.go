// Command transport measures what a call costs a server beside its peers, each in a process of its own, over stdio and
// HTTP: the processor time of the server, not the time on the clock. It prints a table in Markdown.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// settings are the flags.
type settings struct {
	rounds   int
	duration time.Duration
	memory   bool
	page     string
	packages string
}

func main() {
	testing.Init() // for -test.benchtime
	var s settings
	flag.IntVar(&s.rounds, "rounds", 7, "how often each peer is measured")
	flag.DurationVar(&s.duration, "time", 300*time.Millisecond, "how long each measurement takes")
	flag.BoolVar(&s.memory, "memory", false, "measure memory too, after a million calls and of sessions")
	flag.StringVar(&s.page, "write", "", "`page` between whose markers the table is written, such as docs/performance.md")
	flag.StringVar(&s.packages, "packages", filepath.Join(os.TempDir(), "aqltag-bench-call"),
		"`folder` in which the packages from npm are installed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "transport:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, s settings) error {
	if s.rounds < 1 || s.duration <= 0 {
		return fmt.Errorf("%d rounds of %s measure nothing", s.rounds, s.duration)
	}
	if err := flag.Set("test.benchtime", s.duration.String()); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bench-call")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	programs, note, err := prepare(ctx, folder, s.packages)
	if err != nil {
		return err
	}
	r := report{results: make(results), note: note}
	for _, t := range transports() {
		if r.results[t.name], err = measure(ctx, programs, t, s.rounds, s.duration); err != nil {
			return err
		}
	}
	if r.stdio, r.handler, err = allocations(ctx); err != nil {
		return err
	}
	if s.memory {
		m, err := remember(ctx, programs)
		if err != nil {
			return err
		}
		r.memory = &m
	}
	r.heading = heading(s)
	table := r.markdown()
	if _, err := io.WriteString(out, table); err != nil || s.page == "" {
		return err
	}
	page, err := os.ReadFile(s.page)
	if err != nil {
		return err
	}
	text, err := put(string(page), table)
	if err != nil {
		return fmt.Errorf("%s: %w", s.page, err)
	}
	return os.WriteFile(s.page, []byte(text), 0o666) //nolint:gosec // a page of the documentation
}

// heading says what the run was.
func heading(s settings) string {
	versions := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	return strings.Join([]string{
		"Microseconds of the server's processor time for a call, and their ratio to aql-tag's.",
		fmt.Sprintf("%s %s/%s, %d processors; SDK %s, mcp-go %s; %d rounds of %s, medians.", runtime.Version(), runtime.GOOS,
			runtime.GOARCH, runtime.NumCPU(), versions["github.com/modelcontextprotocol/go-sdk"],
			versions["github.com/mark3labs/mcp-go"], s.rounds, s.duration),
	}, "\n")
}
