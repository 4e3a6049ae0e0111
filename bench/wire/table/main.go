// Command table measures every candidate of the benchmarks in package wire. It prints one table with medians, ratios
// to aql-tag, and the targets with what was measured. Candidates take turns in rounds, so that a machine that is slow
// for a while is slow for all of them. The command fails when a candidate fails, and never because something is slow.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/bench/wire"
)

func main() {
	testing.Init()
	rounds := flag.Int("rounds", 7, "how many times every candidate is measured")
	duration := flag.Duration("time", 100*time.Millisecond, "how long a candidate runs in each round")
	heap := flag.Int("heap", 64, "MiB of memory in use")
	only := flag.String("only", "", "regular expression of the benchmarks to run, such as decode/")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *rounds, *duration, *heap, *only); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		stop()
		os.Exit(1)
	}
}

// run prints the table. heap is the MiB of memory that the process has in use. With an empty heap the garbage
// collector would run at every 4 MiB of garbage, hundreds of times a second. No service has that, and floors that
// allocate nothing would not pay for it.
func run(ctx context.Context, out io.Writer, rounds int, duration time.Duration, heap int, only string) error {
	used := make([]byte, heap<<20)
	defer runtime.KeepAlive(used)
	if rounds < 1 || duration <= 0 {
		return fmt.Errorf("%d rounds of %s measure nothing", rounds, duration)
	}
	filter, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := flag.Set("test.benchtime", duration.String()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s/%s, %d processors; %d MiB of heap in use; %d rounds of %s; medians. ",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), heap, rounds, duration)
	fmt.Fprintln(out, "The ratio is the median of the rounds' ratios to the first line.")
	all := make(results)
	for _, benchmark := range wire.Benchmarks() {
		if !filter.MatchString(benchmark.Name) {
			continue
		}
		lines, err := measure(ctx, benchmark, rounds)
		if errors.Is(err, wire.ErrMissing) {
			fmt.Fprintf(out, "\n%s: %v\n", benchmark.Name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", benchmark.Name, err)
		}
		all[benchmark.Name] = lines
		printGroup(out, benchmark.Name, lines)
	}
	printTargets(out, all)
	return nil
}

// line is the measurements of one candidate.
type line struct {
	name, leavesOut string
	perOp           float64 // ns
	allocs, bytes   int64
	ratio           float64 // of its time to that of the first candidate
}

// results are the lines of each benchmark.
type results map[string][]line

// measure runs the candidates of a benchmark in turn.
func measure(ctx context.Context, benchmark wire.Benchmark, rounds int) ([]line, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what the group uses, so that it does not slow down the next group
	group, err := benchmark.Make(ctx)
	if err != nil {
		return nil, err
	}
	defer group.Close()
	times := make([][]float64, len(group.Candidates))
	lines := make([]line, len(group.Candidates))
	for range rounds {
		for i, c := range group.Candidates {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if _, err := c.Run(); err != nil { // warms up, and returns the error, which testing.Benchmark does not
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			result := testing.Benchmark(func(b *testing.B) { wire.Measure(b, c) })
			if result.N == 0 {
				return nil, fmt.Errorf("%s failed while it was measured", c.Name)
			}
			times[i] = append(times[i], float64(result.T.Nanoseconds())/float64(result.N))
			lines[i] = line{
				name: c.Name, leavesOut: c.LeavesOut, allocs: result.AllocsPerOp(), bytes: result.AllocedBytesPerOp(),
			}
		}
	}
	for i := range lines {
		ratios := make([]float64, rounds)
		for round := range ratios {
			ratios[round] = times[i][round] / times[0][round]
		}
		lines[i].perOp, lines[i].ratio = median(times[i]), median(ratios)
	}
	return lines, nil
}

func printGroup(out io.Writer, name string, lines []line) {
	fmt.Fprintf(out, "\n%-46s %12s %10s %9s %8s  %s\n", name, "ns/op", "B/op", "allocs/op", "ratio", "leaves out")
	for _, l := range lines {
		fmt.Fprintf(out, "  %-44s %12s %10d %9d %8s  %s\n",
			l.name, grouped(l.perOp), l.bytes, l.allocs, short(l.ratio), l.leavesOut)
	}
}

// grouped returns a number as an integer with commas between its thousands.
func grouped(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	var text strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text.WriteByte(',')
		}
		text.WriteRune(digit)
	}
	return text.String()
}

// short returns a ratio with three significant digits.
func short(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.4f", v)
	}
}
