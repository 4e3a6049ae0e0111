package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// outstanding are how many calls are made at the same time.
var outstanding = []int{1, 8, 64}

// cell is what was measured of a peer with so many calls at the same time.
type cell struct {
	cpu     float64 // of the server, in microseconds a call; the median of the rounds
	ratio   float64 // to aql-tag; the median of the rounds' ratios
	latency time.Duration
}

// results are the cells by transport, peer and calls at the same time.
type results map[string]map[string]map[int]cell

// measure measures the peers of a transport. In each round all of them take their turn, so that what disturbs the
// machine disturbs all of them.
func measure(ctx context.Context, p programs, t transport, rounds int, duration time.Duration) (
	cells map[string]map[int]cell, err error,
) {
	var servers []*process
	defer func() {
		for _, s := range servers {
			if stopped := s.stop(); err == nil {
				err = stopped
			}
		}
	}()
	for _, peer := range t.peers {
		if peer == typeScript && p.script == "" {
			continue
		}
		s, err := start(ctx, p, peer, t)
		if err != nil {
			return nil, err
		}
		servers = append(servers, s)
	}
	cpu := make(map[string]map[int][]float64)
	latencies := make(map[string][]time.Duration)
	cells = make(map[string]map[int]cell)
	for _, s := range servers {
		cpu[s.peer], cells[s.peer] = make(map[int][]float64), make(map[int]cell)
		if _, err := s.client.call(outstanding[0], duration, nil); err != nil { // warms up
			return nil, fmt.Errorf("%s over %s: %w", s.peer, t.name, err)
		}
	}
	for range rounds {
		for _, n := range outstanding {
			for _, s := range servers {
				var took []time.Duration
				used, err := s.measure(n, duration, &took)
				if err != nil {
					return nil, fmt.Errorf("%s over %s, %d calls at once: %w", s.peer, t.name, n, err)
				}
				cpu[s.peer][n] = append(cpu[s.peer][n], used)
				latencies[s.peer] = append(latencies[s.peer], took...)
			}
		}
	}
	for peer, byCalls := range cpu {
		for n, used := range byCalls {
			ratios := make([]float64, rounds)
			for i := range ratios {
				ratios[i] = used[i] / cpu[ours][n][i]
			}
			c := cell{cpu: median(used), ratio: median(ratios)}
			if n == 1 {
				c.latency = median(latencies[peer])
			}
			cells[peer][n] = c
		}
	}
	return cells, nil
}

// measure returns the microseconds of processor time that a call costs the server.
func (s *process) measure(n int, duration time.Duration, latencies *[]time.Duration) (float64, error) {
	before, err := cpuTime(s.command.Process.Pid)
	if err != nil {
		return 0, err
	}
	answered, err := s.client.call(n, duration, latencies)
	if err != nil {
		return 0, err
	}
	after, err := cpuTime(s.command.Process.Pid)
	if err != nil {
		return 0, err
	}
	return float64((after - before).Nanoseconds()) / 1000 / float64(answered), nil
}

// median returns the middle of values, which are at least one.
func median[T int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
