package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/aqltag/aqltag/runtime/bench/wire"
)

// target is a bound of a quantity that is measured.
type target struct {
	benchmark, quantity string
	measured            func(m measurements) float64
	atMost              float64 // 0: there is none
	atLeast             float64
}

func atMost(benchmark, quantity string, limit float64, measured func(measurements) float64) target {
	return target{benchmark: benchmark, quantity: quantity, measured: measured, atMost: limit}
}

func atLeast(benchmark, quantity string, limit float64, measured func(measurements) float64) target {
	return target{benchmark: benchmark, quantity: quantity, measured: measured, atLeast: limit}
}

// measurements are those of one benchmark. absent is set when one is read that is not there.
type measurements struct {
	lines  []line
	absent *bool
}

func (m measurements) line(name string) line {
	i := slices.IndexFunc(m.lines, func(l line) bool { return l.name == name })
	if i < 0 {
		*m.absent = true
		return line{ratio: 1, perOp: 1}
	}
	return m.lines[i]
}

// times is the time of a candidate as a multiple of that of aql-tag.
func times(name string) func(measurements) float64 {
	return func(m measurements) float64 { return m.line(name).ratio }
}

// of is the time of aql-tag as a part of that of a candidate.
func of(name string) func(measurements) float64 {
	return func(m measurements) float64 { return 1 / m.line(name).ratio }
}

// allocations are those of a candidate for one run.
func allocations(name string) func(measurements) float64 {
	return func(m measurements) float64 { return float64(m.line(name).allocs) }
}

// microseconds are those that a candidate takes.
func microseconds(name string) func(measurements) float64 {
	return func(m measurements) float64 { return m.line(name).perOp / 1000 }
}

// nanosecondsEach are those that each of many things takes that a candidate does.
func nanosecondsEach(name string, many int) func(measurements) float64 {
	return func(m measurements) float64 { return m.line(name).perOp / float64(many) }
}

// kibibytes are those that a candidate allocates.
func kibibytes(name string) func(measurements) float64 {
	return func(m measurements) float64 { return float64(m.line(name).bytes) / 1024 }
}

// reading is the time of a call of a list beyond that of the same call without a query, as a multiple of the time of
// decode/small.
func reading(m measurements) float64 {
	bare, decode := m.line("aql-tag, without the query").ratio, m.line("aql-tag, decode/small").ratio
	return (1 - bare) / decode
}

// slack is the factor by which the targets of small and large requests are looser than those of the medium one.
const slack = 1.3

// targets returns all targets.
func targets() []target {
	var all []target
	for _, size := range []struct {
		name  string
		slack float64
	}{{"decode/medium", 1}, {"decode/small", slack}, {"decode/large", slack}} {
		all = append(all,
			atMost(size.name, "time of json.Valid", 0.7*size.slack, of("json.Valid")),
			atMost(size.name, "time of sonic, which validates nothing", size.slack, of("sonic, copying the request")),
			atLeast(size.name, "times as fast as the MCP SDK's AddTool", 25/size.slack, times("MCP SDK AddTool")),
			atLeast(size.name, "times as fast as encoding/json + validator", 8/size.slack, times("encoding/json + validator")))
		if size.slack == 1 {
			all = append(all, atMost(size.name, "allocations", 8, allocations("aql-tag")))
		}
	}
	const (
		evanphx     = "evanphx MergePatch + Unmarshal"
		filter      = "encode, then filter"
		tenThousand = "aql-tag, 10,000 operations"
		maps        = "evaluator of map[string]any"
	)
	for _, name := range []string{"collection/sqlite", "collection/postgres", "collection/mariadb"} {
		all = append(all,
			atMost(name, "time of a statement by hand", 1.15, of("statement by hand")),
			atLeast(name, "times as fast as OFFSET", 50, times("OFFSET, alone")),
			atMost(name+"/nullable", "time of the part with values, by hand", 1.5, of("statement by hand")))
	}
	return append(all,
		atLeast("merge/medium", "times as fast as "+evanphx, 20, times(evanphx)),
		atLeast("encode/list25", "times as fast as encoding/json", 3, times("encoding/json")),
		atMost("encode/list25", "time of sonic", 1, of("sonic")),
		atMost("encode/list25", "allocations, the output among them", 1, allocations("aql-tag")),
		atMost("fields/2of10", "time of encoding all fields", 1, of("aql-tag, all fields")),
		atLeast("fields/2of10", "times as fast as encode, then filter", 50, times(filter)),
		atMost("call/small", "time of decoding alone", 2, of("aql-tag, decoding alone")),
		atMost("call/medium", "time of decoding alone", 2, of("aql-tag, decoding alone")),
		atMost("operations/same", "time at 10,000 operations, of that at 10", 1.2, times(tenThousand)),
		atMost("introspect/detail", "time at 10,000 operations, of that at 10", 1.2, times(tenThousand)),
		atMost("introspect/detail", "allocations", 2, allocations("aql-tag, 10 operations")),
		atMost("introspect/list", "allocations", 2, allocations("aql-tag")),
		atMost("collection/slice", "time of a loop and SortFunc over pointers", 0.35, of("loop + SortFunc over pointers")),
		atMost("collection/slice", "time of a loop and bounded insertion", 2, of("loop + bounded insertion")),
		atMost("collection/pointers", "time of a loop and SortFunc", 0.5, of("loop + SortFunc")),
		atMost("collection/stream", "time of a loop and SortFunc", 0.5, of("loop + SortFunc")),
		atMost("collection/stream", "KiB allocated, with those of a page", 76, kibibytes("aql-tag")),
		atMost("collection/groups", "time of a map by hand", 1.7, of("map by hand")),
		atLeast("collection/maps", "times as fast as an "+maps, 15, times(maps)),
		atMost("collection/read", "filter, sort and cursor, of decode/small", 3, reading),
		atMost("collection/cursor", "microseconds", 1.5, microseconds("aql-tag")),
		atMost("collection/cursor", "allocations", 4, allocations("aql-tag")),
		atMost("observe/nothing", "nanoseconds in place of a hook", 1, nanosecondsEach("aql-tag", wire.Asked)),
	)
}

// printTargets prints the targets with what was measured.
func printTargets(out io.Writer, all results) {
	fmt.Fprintf(out, "\n%-30s %-50s %10s %10s\n", "target", "", "wanted", "measured")
	for _, t := range targets() {
		wanted := "<= " + short(t.atMost)
		if t.atMost == 0 {
			wanted = ">= " + short(t.atLeast)
		}
		var absent bool
		measured := t.measured(measurements{all[t.benchmark], &absent})
		value, verdict := short(measured), "met"
		switch {
		case absent:
			value, verdict = "", "not measured"
		case t.atMost != 0 && measured > t.atMost, t.atMost == 0 && measured < t.atLeast:
			verdict = "missed"
		}
		fmt.Fprintf(out, "  %-28s %-50s %10s %10s  %s\n", t.benchmark, t.quantity, wanted, value, verdict)
	}
}

// median returns the middle of values, which are at least one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
