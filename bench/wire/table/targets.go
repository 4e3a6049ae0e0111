package main

import (
	"fmt"
	"io"
	"slices"
)

// target is what a measurement shall be.
type target struct {
	benchmark, says string
	measured        func(r reading) float64
	atMost          float64 // 0: atLeast counts
	atLeast         float64
}

// reading finds measurements of one benchmark. It takes note of those that are absent.
type reading struct {
	lines  []line
	absent *bool
}

func (r reading) line(name string) line {
	i := slices.IndexFunc(r.lines, func(l line) bool { return l.name == name })
	if i < 0 {
		*r.absent = true
		return line{ratio: 1, perOp: 1}
	}
	return r.lines[i]
}

// times is how many times as long as aql-tag a candidate takes.
func times(name string) func(reading) float64 {
	return func(r reading) float64 { return r.line(name).ratio }
}

// of is how long aql-tag takes, as a part of a candidate's time.
func of(name string) func(reading) float64 {
	return func(r reading) float64 { return 1 / r.line(name).ratio }
}

func allocations(r reading) float64 { return float64(r.line("aql-tag").allocs) }

// slack is how far small and large requests may be from the ratios that are demanded of the medium one.
const slack = 1.3

// targets are those of the wire.
func targets() []target {
	var all []target
	for _, size := range []struct {
		name  string
		slack float64
	}{{"decode/medium", 1}, {"decode/small", slack}, {"decode/large", slack}} {
		all = append(all,
			target{benchmark: size.name, says: "time of json.Valid", measured: of("json.Valid"), atMost: 0.7 * size.slack},
			target{benchmark: size.name, says: "time of sonic, which validates nothing", measured: of("sonic"), atMost: size.slack},
			target{benchmark: size.name, says: "times as fast as the MCP SDK's AddTool", measured: times("MCP SDK AddTool"), atLeast: 25 / size.slack},
			target{benchmark: size.name, says: "times as fast as encoding/json + validator", measured: times("encoding/json + validator"), atLeast: 8 / size.slack})
		if size.slack == 1 {
			all = append(all, target{benchmark: size.name, says: "allocations", measured: allocations, atMost: 8})
		}
	}
	return append(all,
		target{benchmark: "merge/medium", says: "times as fast as evanphx MergePatch + Unmarshal", measured: times("evanphx MergePatch + Unmarshal"), atLeast: 20},
		target{benchmark: "encode/list25", says: "times as fast as encoding/json", measured: times("encoding/json"), atLeast: 3},
		target{benchmark: "encode/list25", says: "time of sonic", measured: of("sonic"), atMost: 1},
		target{benchmark: "encode/list25", says: "allocations, the output among them", measured: allocations, atMost: 1},
		target{benchmark: "fields/2of10", says: "time of encoding all fields", measured: selection(of("aql-tag, all fields")), atMost: 1},
		target{benchmark: "fields/2of10", says: "times as fast as encode, then filter", measured: selection(times("encode, then filter")), atLeast: 50},
		target{benchmark: "call/small", says: "time of decoding alone", measured: of("aql-tag, decoding alone"), atMost: 2},
		target{benchmark: "call/medium", says: "time of decoding alone", measured: of("aql-tag, decoding alone"), atMost: 2},
		target{benchmark: "operations/same", says: "time at 10,000 operations, of that at 10", measured: times("aql-tag, 10,000 operations"), atMost: 1.2},
		target{benchmark: "introspect/detail", says: "time at 10,000 operations, of that at 10", measured: times("aql-tag, 10,000 operations"), atMost: 1.2},
		target{benchmark: "introspect/detail", says: "allocations", measured: func(r reading) float64 { return float64(r.line("aql-tag, 10 operations").allocs) }, atMost: 2},
		target{benchmark: "introspect/list", says: "allocations", measured: allocations, atMost: 2},
	)
}

// selection judges field selection only when there is one.
func selection(measured func(reading) float64) func(reading) float64 {
	return func(r reading) float64 {
		r.line("aql-tag")
		return measured(r)
	}
}

// printTargets says which targets were met. Those whose measurements are absent are listed as such.
func printTargets(out io.Writer, all results) {
	fmt.Fprintf(out, "\n%-20s %-50s %10s %10s\n", "target", "", "wanted", "measured")
	for _, t := range targets() {
		wanted := "<= " + short(t.atMost)
		if t.atMost == 0 {
			wanted = ">= " + short(t.atLeast)
		}
		var absent bool
		measured := t.measured(reading{all[t.benchmark], &absent})
		value, verdict := short(measured), "met"
		switch {
		case absent:
			value, verdict = "", "not measured"
		case t.atMost != 0 && measured > t.atMost, t.atMost == 0 && measured < t.atLeast:
			verdict = "missed"
		}
		fmt.Fprintf(out, "  %-18s %-50s %10s %10s  %s\n", t.benchmark, t.says, wanted, value, verdict)
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
