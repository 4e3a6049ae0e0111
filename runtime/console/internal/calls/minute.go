package calls

import (
	"math"
	"slices"
	"time"
)

// Minute has what came of the calls of a minute.
type Minute struct {
	Number int64  `json:"number"` // since 1970, UTC
	Calls  uint32 `json:"calls,omitempty"`
	Failed uint32 `json:"failed,omitempty"` // of Calls, with whatever error
	Took   Times  `json:"took,omitempty"`
	// What the gate has decided: Undecided are those for which the state or the audit log has failed.
	Passed    uint32 `json:"passed,omitempty"`
	Held      uint32 `json:"held,omitempty"`
	Denied    uint32 `json:"denied,omitempty"`
	Undecided uint32 `json:"undecided,omitempty"`
}

// MinuteOf returns the number of the minute of a time.
func MinuteOf(at time.Time) int64 { return int64(math.Floor(float64(at.Unix()) / 60)) }

// Add adds what came of the calls of the same minute elsewhere.
func (m *Minute) Add(other *Minute) {
	m.Calls += other.Calls
	m.Failed += other.Failed
	m.Passed += other.Passed
	m.Held += other.Held
	m.Denied += other.Denied
	m.Undecided += other.Undecided
	for i, count := range other.Took[:min(len(other.Took), spans)] {
		m.Took.put(i, count)
	}
}

func (m *Minute) clone() Minute {
	c := *m
	c.Took = slices.Clone(m.Took)
	return c
}

const (
	// least is the longest time of the first span, and each span is longer than the one before by a quarter.
	least  = 50 * time.Microsecond
	growth = 1.25
	// spans is how many there are. The last one has all longer times.
	spans = 72
)

// Times counts how long calls took, by spans of time of which each is a quarter longer than the one before.
type Times []uint32

func (t *Times) add(took time.Duration) {
	i := 0
	if took > least {
		i = min(int(math.Ceil(math.Log(float64(took)/float64(least))/math.Log(growth))), spans-1)
	}
	t.put(i, 1)
}

func (t *Times) put(i int, count uint32) {
	for len(*t) <= i {
		*t = append(*t, 0)
	}
	(*t)[i] += count
}

// Within returns the time within which a share of the calls were answered, as 0.95 of them, or up to a quarter more;
// zero: there were none.
func (t Times) Within(share float64) time.Duration {
	var all, sum float64
	for _, count := range t {
		all += float64(count)
	}
	for i, count := range t {
		if sum += float64(count); all > 0 && sum >= share*all {
			return time.Duration(float64(least) * math.Pow(growth, float64(min(i, spans-1))))
		}
	}
	return 0
}
