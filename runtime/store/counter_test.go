package store

import (
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
				t.Fatalf("window %v: refused at the time it said it is free", window)
			}
			if earlier := c; !earlier.Take(claim, count.Free.Add(-time.Millisecond)).Refused && count.Free.Add(-time.Millisecond).After(now) {
				t.Fatalf("window %v: free earlier than it said", window)
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
