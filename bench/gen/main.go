// Command gen measures the generator on synthetic modules, next to the go command and two well-known generators, and
// what the generated code costs to compile and to start. It prints tables of medians, and targets. It does not fail
// when a target is missed: machines are noisy.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/test/proxy"
)

func main() {
	sizes := flag.String("sizes", "10,100,1000,5000", "numbers of operations")
	runs := flag.Int("runs", 5, "runs of each command")
	compile := flag.Int("compile", 1000, "operations of the package whose compilation is measured; 0: none")
	flag.Parse()
	if err := run(*sizes, *runs, *compile); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(sizes string, runs, compile int) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-gen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := buildTools(dir, root)
	if err != nil {
		return err
	}
	served, err := proxy.New(context.Background(), root, filepath.Join(dir, "proxy"))
	if err != nil {
		return err
	}
	fmt.Println("Targets are in brackets. Memory is that of the largest process.")
	thousand := time.Duration(0)
	for text := range strings.SplitSeq(sizes, ",") {
		ops, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-sizes: %w", err)
		}
		regenerated, err := regeneration(filepath.Join(dir, text), served, tools, ops, runs)
		if err != nil {
			return err
		}
		switch ops {
		case 1000:
			thousand = regenerated
		case 5000:
			if thousand > 0 {
				times := float64(regenerated) / float64(thousand)
				fmt.Printf("\nregenerating 5,000 operations takes %.1f times as long as 1,000 [≤ 5]\n", times)
			}
		}
	}
	if compile > 0 {
		return compilation(filepath.Join(dir, "compile"), served, tools, compile, runs)
	}
	return nil
}

// tools are the programs that are measured.
type tools struct{ aqltag, stringer, controller string }

func buildTools(dir, root string) (tools, error) {
	t := tools{filepath.Join(dir, "aql-tag"), filepath.Join(dir, "stringer"), filepath.Join(dir, "controller-gen")}
	for _, b := range []struct{ in, out, pkg string }{
		{root, t.aqltag, "./cmd/aql-tag"}, // in the workspace, where it finds the runtime
		{".", t.stringer, "golang.org/x/tools/cmd/stringer"},
		{".", t.controller, "sigs.k8s.io/controller-tools/cmd/controller-gen"},
	} {
		build := exec.Command("go", "build", "-o", b.out, b.pkg)
		build.Dir = b.in
		build.Env = os.Environ()
		if b.in == "." {
			build.Env = append(build.Env, "GOWORK=off")
		} else {
			build.Env = append(build.Env, "GOWORK=")
		}
		if out, err := build.CombinedOutput(); err != nil {
			return t, fmt.Errorf("building %s: %w\n%s", b.pkg, err, out)
		}
	}
	return t, nil
}
