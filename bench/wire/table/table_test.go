package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/bench/wire"
)

// The benchmark and the candidate of each target exist.
func TestTargetsAreMeasured(t *testing.T) {
	all := make(results)
	for _, benchmark := range wire.Benchmarks() {
		group, err := benchmark.Make(t.Context())
		if errors.Is(err, wire.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range group.Candidates {
			all[benchmark.Name] = append(all[benchmark.Name], line{name: c.Name, ratio: 1})
		}
		group.Close()
	}
	for _, target := range targets() {
		var absent bool
		target.measured(measurements{all[target.benchmark], &absent})
		if absent {
			t.Errorf("%s, %s: the measurement is absent", target.benchmark, target.quantity)
		}
	}
}

func TestTargetsArePrinted(t *testing.T) {
	var out bytes.Buffer
	printTargets(&out, results{
		"merge/medium": {{name: "aql-tag", ratio: 1}, {name: "evanphx MergePatch + Unmarshal", ratio: 20}},
		"encode/list25": {
			{name: "aql-tag", ratio: 1, allocs: 2}, {name: "encoding/json", ratio: 2.5}, {name: "sonic", ratio: 0.8},
		},
		"introspect/detail": {{name: "aql-tag, 10 operations", ratio: 1, allocs: 1}},
	})
	want := map[string]string{
		"merge/medium, times as fast as evanphx":       ">= 20.0 20.0 met",
		"encode/list25, times as fast as encoding":     ">= 3.00 2.50 missed",
		"encode/list25, time of sonic":                 "<= 1.00 1.25 missed",
		"encode/list25, allocations":                   "<= 1.00 2.00 missed",
		"introspect/detail, allocations":               "<= 2.00 1.00 met",
		"introspect/detail, time at 10,000 operations": "<= 1.20 not measured",
	}
	got := make(map[string]string)
	for text := range strings.Lines(out.String()) {
		words := strings.Join(strings.Fields(text), " ")
		for name := range want {
			benchmark, quantity, _ := strings.Cut(name, ", ")
			if strings.HasPrefix(words, benchmark+" "+quantity) {
				got[name] = words[strings.LastIndexAny(words, "<>"):]
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, out.String())
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for v, want := range map[float64]string{7: "7", 999.6: "1,000", 1234567: "1,234,567"} {
		if got := grouped(v); got != want {
			t.Errorf("grouped(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.0123: "0.0123", 0.7: "0.70", 12.34: "12.3", 123.4: "123"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %s, want %s", v, got, want)
		}
	}
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("median = %v", got)
	}
	if got := median([]float64{9, 1, 5, 6}); got != 5.5 {
		t.Errorf("median of four = %v", got)
	}
}
