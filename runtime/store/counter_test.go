package store

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.UnixMilli(1_800_000_000_123)

// REQ-RQ-01: within no interval of the window's length is more taken than the limit, wherever the interval begins.
func TestWindowHoldsForEveryInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		window := time.Duration(10+random.IntN(5000)) * time.Millisecond
		claim := Claim{N: 1, Limit: int64(1 + random.IntN(20)), Window: window}
		var c Counter
		var taken []time.Time
		now := start
		for range 500 {
			now = now.Add(time.Duration(random.Int64N(int64(window) / 4)))
			count := c.Take(claim, now)
			if !count.Refused {
				taken = append(taken, now)
				continue
			}
			if !count.Free.After(now) || count.Free.Sub(now) > window+window/slots+(slots+1)*time.Millisecond {
				t.Fatalf("window %v: free %v from now", window, count.Free.Sub(now))
			}
			later := c
			if later.Take(claim, count.Free).Refused {
				t.Fatalf("window %v: refused at the time at which it should be free", window)
			}
			if earlier := c; !earlier.Take(claim, count.Free.Add(-time.Millisecond)).Refused &&
				count.Free.Add(-time.Millisecond).After(now) {
				t.Fatalf("window %v: free earlier than announced", window)
			}
		}
		for i := int(claim.Limit); i < len(taken); i++ {
			if passed := taken[i].Sub(taken[i-int(claim.Limit)]); passed < window {
				t.Fatalf("window %v, limit %d: %d taken within %v", window, claim.Limit, claim.Limit+1, passed)
			}
		}
	}
}

func TestCounterRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var c Counter
		claim := Claim{N: random.Int64N(1000), Ends: start}
		if random.IntN(2) == 0 {
			claim = Claim{N: random.Int64N(1000), Window: time.Second}
		}
		for range random.IntN(20) {
			c.Take(claim, start.Add(time.Duration(random.IntN(3000))*time.Millisecond))
		}
		back, err := ParseCounter(c.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back, cmp.AllowUnexported(Counter{})); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
}

// REQ-RQ-01: giving back takes nothing from what others have added: neither from a later period, nor from how long it
// counts.
func TestGivingBackIsNotTheCostOfOthers(t *testing.T) {
	minute := start.Truncate(time.Minute).Add(time.Minute)
	var period Counter
	period.Take(Claim{N: 1, Ends: minute}, start)
	period.Take(Claim{N: 2, Ends: minute.Add(time.Minute)}, minute)
	if got := period.Take(Claim{N: -1, Ends: minute}, minute).Used; got != 2 {
		t.Errorf("of a period that has ended, %d are left of 2", got)
	}
	var window Counter
	claim := Claim{N: 1, Limit: 3, Window: time.Second}
	window.Take(claim, start)
	late := start.Add(900 * time.Millisecond)
	for range 2 {
		window.Take(claim, late)
	}
	window.Take(Claim{N: -1, Window: time.Second}, late)
	if got := window.Take(Claim{Window: time.Second}, late.Add(900*time.Millisecond)).Used; got != 2 {
		t.Errorf("of what others have added less than a second ago, %d of 2 count", got)
	}
}

// A claim by a clock that is behind, or for what began in an earlier period, does not make a store forget the later
// one.
func TestCountersAreKeptForTheirPeriod(t *testing.T) {
	minute := start.Truncate(time.Minute).Add(time.Minute)
	now := minute
	memory := &Memory{Now: func() time.Time { return now }}
	take := func(claim Claim) int64 {
		t.Helper()
		claim.Key = "k"
		counts, err := memory.Take(t.Context(), []Claim{claim})
		if err != nil {
			t.Fatal(err)
		}
		return counts[0].Used
	}
	take(Claim{N: 5, Ends: minute.Add(time.Hour)})
	take(Claim{N: 1, Ends: minute})
	now = now.Add(30 * time.Minute)
	if got := take(Claim{Ends: minute.Add(time.Hour)}); got != 6 {
		t.Errorf("%d of 6 are left", got)
	}
}

// What lost its end is not a counter that nothing was added to.
func TestTruncatedCounters(t *testing.T) {
	var c Counter
	c.Take(Claim{N: 5, Window: time.Minute}, start)
	whole := c.Append(nil)
	for n := 1; n < len(whole); n++ {
		if got, err := ParseCounter(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes: %+v", n, len(whole), got)
		}
	}
}

// Damaged state is an error, and never a counter that allows more.
func FuzzParseCounter(f *testing.F) {
	var c Counter
	c.Take(Claim{N: 5, Window: time.Minute}, start)
	f.Add(c.Append(nil))
	f.Add([]byte{1})
	f.Add([]byte{1, 0xff})
	f.Add([]byte{2, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCounter(text)
		if err != nil || len(text) == 0 {
			return
		}
		for _, part := range c.parts {
			if part < 0 {
				t.Errorf("%x: a negative count", text)
			}
		}
		back, err := ParseCounter(c.Append(nil))
		if err != nil || back != c {
			t.Errorf("%x: %+v comes back as %+v, %v", text, c, back, err)
		}
	})
}

// C12, REQ-RQ-01: a counter that has counted all that it can stays there, and refuses what has a limit: it does not
// begin again below zero.
func TestCountersDoNotWrap(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for name, claim := range map[string]Claim{
		"of a period": {Ends: now.Add(time.Hour)}, "of a window": {Window: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var c Counter
			take := func(n, limit int64) Count {
				claim.N, claim.Limit = n, limit
				return c.Take(claim, now)
			}
			take(math.MaxInt64-1, 0)
			now := now.Add(claim.Window / 2) // the amounts of a window are in two of its parts
			claim.N, claim.Limit = math.MaxInt64, 0
			if got := c.Take(claim, now); got.Used != math.MaxInt64 || got.Refused {
				t.Errorf("beyond the largest number: %+v", got)
			}
			for _, limit := range []int64{1, math.MaxInt64} {
				claim.N, claim.Limit = 1, limit
				if got := c.Take(claim, now); limit == 1 && !got.Refused || got.Used != math.MaxInt64 {
					t.Errorf("a limit of %d: %+v", limit, got)
				}
			}
			claim.N, claim.Limit = math.MaxInt64, 10
			if got := c.Take(claim, now); !got.Refused {
				t.Errorf("an amount beyond its limit: %+v", got)
			}
			if back, err := ParseCounter(c.Append(nil)); err != nil || back != c {
				t.Errorf("it comes back as %+v, %v", back, err)
			}
		})
	}
}

// C12: what was counted goes on counting when the clock is set back, in a window and in a period.
func TestCountersWhenTheClockIsSetBack(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for name, claim := range map[string]func(now time.Time) Claim{
		"of a period": func(now time.Time) Claim { return Claim{Ends: now.Truncate(time.Hour).Add(time.Hour)} },
		"of a window": func(time.Time) Claim { return Claim{Window: time.Hour} },
	} {
		t.Run(name, func(t *testing.T) {
			var c Counter
			for i, back := range []time.Duration{0, time.Minute, 3 * time.Hour, 48 * time.Hour} {
				at := now.Add(-back)
				one := claim(at)
				one.N, one.Limit = 1, 1
				if got := c.Take(one, at); got.Refused != (i > 0) {
					t.Errorf("set back by %v: %+v", back, got)
				}
			}
		})
	}
}
