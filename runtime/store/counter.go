package store

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// slots is into how many parts a sliding window is divided.
const slots = 10

// Claim is what is to be added to a counter. A counter is either of a sliding window or of a period that ends; the key
// says which, and always the same.
type Claim struct {
	Key string
	// N is what to add. Zero adds nothing and asks whether one could be added. A negative one gives back what was taken.
	N int64
	// Limit is what the counter may come to. Zero is no limit.
	Limit int64
	// Window makes the counter one of a sliding window: within no time of this length does it exceed its limit, however the
	// other side begins its own windows. What was added counts for up to a tenth longer. At least 10 milliseconds.
	Window time.Duration
	// Ends makes the counter one of a period: it begins anew with the first claim whose period ends later. A claim whose
	// period ends earlier, made by a clock that is behind, counts for the later one. It is used where Window is zero.
	Ends time.Time
}

// Count is what came of a claim.
type Count struct {
	// Used is what the counter stands at: after the claim where all were taken, before it otherwise.
	Used int64
	// Refused says that this claim would have exceeded its limit.
	Refused bool
	// Free is when a refused claim can be made with success at the earliest.
	Free time.Time
}

// Counter is the state of a counter, for stores that keep it as a value. The zero value is a counter that nothing was
// added to.
type Counter struct {
	ends  int64            // of the period, in Unix milliseconds
	slot  int64            // number of the slot to which parts[0] belongs
	parts [slots + 1]int64 // of a window: newest first; of a period: the first alone
}

// Take applies a claim at a time, by the store's clock. It changes nothing where the claim is refused.
func (c *Counter) Take(claim Claim, now time.Time) Count {
	c.move(claim, now)
	used := int64(0)
	for _, part := range c.parts {
		used += part
	}
	if claim.N < 0 && claim.Window <= 0 && claim.Ends.UnixMilli() < c.ends {
		return Count{Used: used} // what was taken is gone with its period, and what is there is others'
	}
	if claim.N < 0 {
		return Count{Used: used - c.giveBack(-claim.N)}
	}
	if claim.Limit > 0 && used+max(claim.N, 1) > claim.Limit {
		return Count{Used: used, Refused: true, Free: c.free(claim, used)}
	}
	c.parts[0] += claim.N
	return Count{Used: used + claim.N}
}

// TakeAll applies claims to the counters of their keys, all of them or none, as Store.Take demands. It reports whether they
// were taken.
func TakeAll(counters []Counter, claims []Claim, now time.Time) ([]Count, bool) {
	counts := make([]Count, len(claims))
	before := make([]int64, len(claims))
	after := make([]Counter, len(claims))
	copy(after, counters)
	taken := true
	for i, claim := range claims {
		asked := claim
		asked.N, asked.Limit = 0, 0
		before[i] = after[i].Take(asked, now).Used
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

// move brings the counter to the present. Time that goes backwards moves nothing: what was added keeps counting.
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

// giveBack takes n away again, and returns what there was to take. It takes from what was added first, so that what others
// have added meanwhile counts for no shorter time than it would have.
func (c *Counter) giveBack(n int64) (given int64) {
	for i := slots; i >= 0; i-- {
		part := min(c.parts[i], n-given)
		c.parts[i] -= part
		given += part
	}
	return given
}

// free is when enough of the counter will have passed for a claim.
func (c *Counter) free(claim Claim, used int64) time.Time {
	if claim.Window <= 0 {
		return time.UnixMilli(c.ends)
	}
	oldest := slots
	for ; oldest > 0; oldest-- {
		if used -= c.parts[oldest]; used+max(claim.N, 1) <= claim.Limit {
			break
		}
	}
	return time.UnixMilli((c.slot + int64(slots-oldest) + 1) * claim.slot())
}

// slot is the length of a part of the window, in milliseconds.
func (c Claim) slot() int64 {
	const whole = slots * time.Millisecond
	return int64((c.Window + whole - 1) / whole) // rounded up, so that the parts are never shorter than the window
}

// Keep is how long a counter must be kept after a claim on it: afterwards it is as if nothing had been added.
func (c *Counter) Keep(claim Claim, now time.Time) time.Duration {
	if claim.Window <= 0 {
		const longest = 100 * 365 * 24 * time.Hour // beyond which a Duration could overflow
		return min(max(time.UnixMilli(c.ends).Sub(now), 0), longest) + time.Minute
	}
	return time.Duration(claim.slot()*(slots+1))*time.Millisecond + time.Second
}

// CheckClaims refuses claims that no store takes: two on one counter.
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

// Append appends the counter's encoded form.
func (c *Counter) Append(to []byte) []byte {
	to = append(to, 1) // version of the form
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

// ParseCounter reads what Append wrote; nothing is a counter that nothing was added to.
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
