package aql

import (
	"fmt"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Limits bounds requests and responses (MCP-AQL core §4.7.5). A zero field means the default. What is exactly at a
// limit passes; beyond it, the request fails with VALIDATION_PAYLOAD_TOO_LARGE.
type Limits struct {
	RequestSize   int // bytes; default 1 MiB, 64 KiB to 10 MiB
	ResponseSize  int // bytes; default 10 MiB, 1 MiB to 100 MiB
	StringLength  int // bytes of one string; default 1 MiB, 64 KiB to 10 MiB
	ArrayElements int // default 10,000, 100 to 100,000
	NestingDepth  int // levels, the root object being the first; default 32, 8 to 64
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// withDefaults replaces the zero fields, and fails on values outside of the protocol's ranges.
func (l Limits) withDefaults() (Limits, error) {
	for _, limit := range []struct {
		name              string
		value             *int
		standard, low, up int
	}{
		{"RequestSize", &l.RequestSize, mib, 64 * kib, 10 * mib},
		{"ResponseSize", &l.ResponseSize, 10 * mib, mib, 100 * mib},
		{"StringLength", &l.StringLength, mib, 64 * kib, 10 * mib},
		{"ArrayElements", &l.ArrayElements, 10_000, 100, 100_000},
		{"NestingDepth", &l.NestingDepth, 32, 8, 64},
	} {
		if *limit.value == 0 {
			*limit.value = limit.standard
		}
		if *limit.value < limit.low || *limit.value > limit.up {
			return l, fmt.Errorf("limit %s is %d; the protocol allows %d to %d", limit.name, *limit.value, limit.low, limit.up)
		}
	}
	return l, nil
}

// wire returns the limits that the reader enforces while it reads.
func (l Limits) wire() wire.Limits {
	return wire.Limits{MaxStringLength: l.StringLength, MaxArrayElements: l.ArrayElements, MaxDepth: l.NestingDepth}
}
