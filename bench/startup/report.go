package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// D2: the bounds of a start with 10,000 operations, until the first search is answered.
const (
	many     = 10_000
	mostCPU  = 400 * time.Millisecond
	mostHeap = 60_000_000
)

// reportLarge prints what adapters of thousands of operations cost, each in processes of its own. It does not fail when
// a target is missed: machines are noisy.
func reportLarge(starts int) error {
	fmt.Printf("\nmedians of %d starts; processor time; heap without garbage\n", starts)
	semantic, err := medians(many, aql.ModeSemantic, starts)
	if err != nil {
		return err
	}
	cpu := semantic.Made + semantic.Introspect + semantic.Search
	fmt.Printf("adapter of %d operations:     made in %s, first introspection in %s, first search in %s\n",
		many, ms(semantic.Made), ms(semantic.Introspect), ms(semantic.Search))
	fmt.Printf("- until the first search is answered: %s [≤ %s, %s]\n", ms(cpu), ms(mostCPU), met(cpu <= mostCPU))
	fmt.Printf("- heap then: %s [≤ %s, %s]\n", mb(semantic.Heap), mb(mostHeap), met(semantic.Heap <= mostHeap))
	for _, operations := range []int{many / 10, many} {
		f, err := medians(operations, aql.ModeDiscrete, starts)
		if err != nil {
			return err
		}
		fmt.Printf("a tool for each of %5d:       made in %s, all tools listed in %s: %d pages, %s; heap %s\n",
			operations, ms(f.Made), ms(f.Listed), f.Pages, mb(int64(f.Bytes)), mb(f.Heap))
	}
	return nil
}

// medians starts processes that make a large adapter, and returns the medians of their figures.
func medians(operations int, mode aql.Mode, starts int) (figures, error) {
	program, err := os.Executable()
	if err != nil {
		return figures{}, err
	}
	all := make([]figures, starts)
	for i := range all {
		command := exec.Command(program, "-operations", strconv.Itoa(operations), "-mode", string(mode))
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil {
			return figures{}, fmt.Errorf("an adapter of %d operations: %w", operations, err)
		}
		if err := json.Unmarshal(out, &all[i]); err != nil {
			return figures{}, err
		}
	}
	m := all[0] // pages and bytes are those of every start
	m.Made = median(all, func(f figures) time.Duration { return f.Made })
	m.Introspect = median(all, func(f figures) time.Duration { return f.Introspect })
	m.Search = median(all, func(f figures) time.Duration { return f.Search })
	m.Listed = median(all, func(f figures) time.Duration { return f.Listed })
	m.Heap = median(all, func(f figures) int64 { return f.Heap })
	return m, nil
}

func median[T cmp.Ordered](all []figures, of func(figures) T) T {
	values := make([]T, len(all))
	for i, f := range all {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

func mb(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "MISSED"
}
