package store

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// slots is how many parts a sliding window has.
const slots = 10

// Claim is an amount to add to a counter. A counter is either one of a sliding window or one of a period; a key must
// not be used for both.
type Claim struct {
	Key string
	// N is the amount. Zero checks whether one could be added. A negative amount gives back what was taken.
	N int64
	// Limit is the most that the counter may come to; zero: no limit.
	Limit int64
	// Window makes the counter one of a sliding window: no time span of this length exceeds the limit, whenever it begins.
	// An amount counts for up to a tenth longer than the window. At least 10 milliseconds.
	Window time.Duration
	// Ends makes the counter one of a period that ends then: it starts from zero with the first claim of a period that
	// ends later. A claim of a period that ends earlier, by a clock that is behind, counts for the later period. Ends is
	// used if Window is zero.
	Ends time.Time
}

// Count is the result of a claim.
type Count struct {
	// Used is the counter's value: after the claims if they were taken, before them otherwise.
	Used int64
	// Refused reports that this claim would have exceeded its limit.
	Refused bool
	// Free is the earliest time at which a refused claim can succeed.
	Free time.Time
}

// Counter is the state of a counter, for stores that hold it as a value. The zero value has counted nothing.
type Counter struct {
	ends  int64            // of the period, in Unix milliseconds
	slot  int64            // number of the slot of parts[0]
	parts [slots + 1]int64 // amounts of a window's slots, newest first; of a period: only the first
}

// Take applies a claim; now is the time by the store's clock. If the claim is refused, nothing changes.
func (c *Counter) Take(claim Claim, now time.Time) Count {
	c.move(claim, now)
	used := int64(0)
	for _, part := range c.parts {
		used = sum(used, part)
	}
	if claim.N < 0 && claim.Window <= 0 && claim.Ends.UnixMilli() < c.ends {
		return Count{Used: used} // the period of the amount is over; the counter has other amounts
	}
	if claim.N < 0 {
		return Count{Used: used - c.giveBack(-claim.N)}
	}
	if claim.Limit > 0 && sum(used, max(claim.N, 1)) > claim.Limit {
		return Count{Used: used, Refused: true, Free: c.free(claim, used)}
	}
	c.parts[0] = sum(c.parts[0], claim.N)
	return Count{Used: sum(used, claim.N)}
}

// sum returns the sum of two amounts that are not negative. A counter stays at the largest amount that there is.
func sum(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// TakeAll applies claims to the counters of their keys: all of them or none, as Store.Take demands. It reports whether
// it has applied them.
func TakeAll(counters []Counter, claims []Claim, now time.Time) ([]Count, bool) {
	counts := make([]Count, len(claims))
	before := make([]int64, len(claims))
	after := make([]Counter, len(claims))
	copy(after, counters)
	taken := true
	for i, claim := range claims {
		check := claim
		check.N, check.Limit = 0, 0
		before[i] = after[i].Take(check, now).Used
		counts[i] = after[i].Take(claim, now)
		taken = taken && !counts[i].Refused
	}
	if taken {
		copy(counters, after)
		return counts, true
	}
	for i := range counts {
		counts[i].Used = before[i]
	}
	return counts, false
}

// move brings the counter to the present. If the clock went backwards, it changes nothing: amounts keep counting.
func (c *Counter) move(claim Claim, now time.Time) {
	if claim.Window <= 0 {
		if ends := claim.Ends.UnixMilli(); ends > c.ends {
			*c = Counter{ends: ends}
		}
		return
	}
	slot := now.UnixMilli() / claim.slot()
	passed := slot - c.slot
	if passed <= 0 {
		return
	}
	c.slot = slot
	if passed > slots {
		c.parts = [slots + 1]int64{}
		return
	}
	copy(c.parts[passed:], c.parts[:])
	clear(c.parts[:passed])
}

// giveBack subtracts up to n, and returns how much. It subtracts from the oldest amounts, so that the amounts that
// others have added meanwhile count for their full time.
func (c *Counter) giveBack(n int64) (given int64) {
	for i := slots; i >= 0; i-- {
		part := min(c.parts[i], n-given)
		c.parts[i] -= part
		given += part
	}
	return given
}

// free returns when the counter will have space for a claim.
func (c *Counter) free(claim Claim, used int64) time.Time {
	if claim.Window <= 0 {
		return time.UnixMilli(c.ends)
	}
	oldest := slots
	for ; oldest > 0; oldest-- {
		if used -= c.parts[oldest]; sum(max(used, 0), max(claim.N, 1)) <= claim.Limit {
			break
		}
	}
	return time.UnixMilli((c.slot + int64(slots-oldest) + 1) * claim.slot())
}

// slot returns the length of a slot of the window, in milliseconds.
func (c Claim) slot() int64 {
	const whole = slots * time.Millisecond
	return int64((c.Window + whole - 1) / whole) // rounded up, so that the slots are not shorter than the window
}

// Keep returns how long a store must hold a counter after a claim: later it is as if nothing had been counted.
func (c *Counter) Keep(claim Claim, now time.Time) time.Duration {
	if claim.Window <= 0 {
		const longest = 100 * 365 * 24 * time.Hour // beyond which a Duration could overflow
		return min(max(time.UnixMilli(c.ends).Sub(now), 0), longest) + time.Minute
	}
	return time.Duration(claim.slot()*(slots+1))*time.Millisecond + time.Second
}

// CheckClaims fails if two claims have the same key.
func CheckClaims(claims []Claim) error {
	for i := range claims {
		for j := range i {
			if claims[i].Key == claims[j].Key {
				return errors.New("a counter is claimed twice at once")
			}
		}
	}
	return nil
}

// Append appends the counter's encoding.
func (c *Counter) Append(to []byte) []byte {
	to = append(to, 1) // version of the encoding
	to = binary.AppendVarint(to, c.ends)
	to = binary.AppendVarint(to, c.slot)
	last := slots
	for last > 0 && c.parts[last] == 0 {
		last--
	}
	for _, part := range c.parts[:last+1] {
		to = binary.AppendVarint(to, part)
	}
	return to
}

// ParseCounter decodes what Append has encoded. An empty text is the zero Counter.
func ParseCounter(text []byte) (Counter, error) {
	var c Counter
	if len(text) == 0 {
		return c, nil
	}
	damaged := errors.New("a counter is damaged, or was written by a later version")
	if text[0] != 1 {
		return c, damaged
	}
	text = text[1:]
	sound := true
	next := func() int64 {
		value, n := binary.Varint(text)
		if n <= 0 {
			sound, text = false, nil
			return 0
		}
		text = text[n:]
		return value
	}
	c.ends, c.slot, c.parts[0] = next(), next(), next()
	for i := 1; i <= slots && len(text) > 0; i++ {
		c.parts[i] = next()
	}
	if !sound || len(text) > 0 || slices.Min(c.parts[:]) < 0 {
		return Counter{}, damaged
	}
	return c, nil
}
