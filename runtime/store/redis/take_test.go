package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
	"github.com/google/go-cmp/cmp"
)

// counters is what store.Memory does with counters, at any time that a test likes.
type counters map[string]store.Counter

func (c counters) take(claims []store.Claim, now time.Time) []store.Count {
	states := make([]store.Counter, len(claims))
	for i, claim := range claims {
		states[i] = c[claim.Key]
	}
	counts, taken := store.TakeAll(states, claims, now)
	for i, claim := range claims {
		if taken && claim.N != 0 {
			c[claim.Key] = states[i]
		}
	}
	return counts
}

// REQ-RQ-01: a script counts as store.Counter does, over thousands of sequences of claims: windows and periods, clocks
// that go back, several counters at once, and counters that are claimed now as one kind, now as the other.
func TestScriptCountsAsCounterDoes(t *testing.T) {
	s := openForTest(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...int64) int64 { return from[random.IntN(len(from))] }
	const sequences = 3000
	for sequence := range sequences {
		model := counters{}
		now := time.UnixMilli(1_800_000_000_000 + random.Int64N(1_000_000))
		longest := pick(int64(time.Millisecond), int64(time.Second), int64(time.Hour), math.MaxInt64/100)
		window := time.Duration(1 + random.Int64N(longest))
		scale := pick(1, 3, 1000, most/30)
		mixed := random.IntN(10) == 0
		length := int64(window / time.Millisecond)
		for step := range 25 {
			later, earlier := random.Int64N(pick(1, 2, 1+length/10, 2+length/3, 2+2*length)), pick(0, 0, 0, length/10)
			now = now.Add(time.Duration(later-earlier) * time.Millisecond)
			if now.UnixMilli() < 0 || now.UnixMilli() > most/100 {
				break
			}
			var claims []store.Claim
			for _, i := range random.Perm(4)[:1+random.IntN(3)] {
				claim := store.Claim{
					Key:   fmt.Sprintf("%d/%d", sequence, i),
					N:     pick(0, 1, 1, 1, scale, random.Int64N(scale+1), -1, -random.Int64N(2*scale)),
					Limit: pick(0, 1, 3, scale, 3*scale, 10*scale),
				}
				kind := i
				if mixed {
					kind = random.IntN(4)
				}
				switch kind {
				case 0, 1:
					claim.Window = window * time.Duration(1+kind)
				case 2:
					claim.Ends = now.Truncate(time.Hour).Add(time.Duration(random.IntN(3)) * time.Hour)
				default:
					if random.IntN(2) == 0 {
						claim.Ends = now.Add(time.Duration(random.Int64N(int64(2*time.Hour))) - time.Hour)
					}
				}
				claims = append(claims, claim)
			}
			s.now = strconv.FormatInt(now.UnixMilli(), 10)
			got, err := s.Take(t.Context(), claims)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(model.take(claims, now), got); diff != "" {
				t.Fatalf("sequence %d, step %d at %s: %+v (-store.Counter +script):\n%s", sequence, step, s.now, claims, diff)
			}
		}
	}
}

func openForTest(t *testing.T) *Store {
	s, err := Open(t.Context(), redistest.Start(t).Location())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The numbers of Redis's scripts are exact to 2^53-1; one that is not must never decide.
func TestTakeRefusesWhatScriptsCannotCount(t *testing.T) {
	s := openForTest(t)
	ends := time.Now().Add(time.Hour)
	for _, claim := range []store.Claim{
		{N: most + 1}, {N: math.MaxInt64}, {N: math.MinInt64}, {N: -most - 1}, {N: 1, Limit: most + 1},
		{N: 1, Limit: math.MaxInt64},
	} {
		claim.Key, claim.Ends = "large", ends
		if counts, err := s.Take(t.Context(), []store.Claim{claim}); err == nil ||
			!strings.Contains(err.Error(), "9007199254740991") {
			t.Errorf("%+v: %+v, %v", claim, counts, err)
		}
	}
	take := func(n, limit int64) (store.Count, error) {
		counts, err := s.Take(t.Context(), []store.Claim{{Key: "large", N: n, Limit: limit, Ends: ends}})
		if err != nil {
			return store.Count{}, err
		}
		return counts[0], nil
	}
	if c, err := take(most, most); err != nil || c.Refused || c.Used != most {
		t.Errorf("the most: %+v, %v", c, err)
	}
	if c, err := take(1, most); err != nil || !c.Refused || c.Used != most {
		t.Errorf("one more with a limit: %+v, %v", c, err)
	}
	if c, err := take(most, 1); err != nil || !c.Refused || c.Used != most {
		t.Errorf("the most again with a limit: %+v, %v", c, err)
	}
	if c, err := take(1, 0); err == nil || !strings.Contains(err.Error(), "9007199254740991") {
		t.Errorf("one more without: %+v, %v", c, err)
	}
	if c, err := take(-most, 0); err != nil || c.Used != 0 {
		t.Errorf("all back: %+v, %v", c, err)
	}
}

func TestTakeRefusesOneCounterTwice(t *testing.T) {
	s := openForTest(t)
	claim := store.Claim{Key: "twice", N: 1, Limit: 1, Window: time.Hour}
	if counts, err := s.Take(t.Context(), []store.Claim{claim, claim}); err == nil {
		t.Errorf("%+v", counts)
	}
	if counts, err := s.Take(t.Context(), []store.Claim{claim}); err != nil || counts[0].Refused {
		t.Errorf("%+v, %v", counts, err)
	}
}

// Damaged state is an error, and never a counter that allows more.
func TestTakeRefusesDamagedCounters(t *testing.T) {
	s := openForTest(t)
	claims := []store.Claim{{Key: "damaged", N: 1, Limit: 1, Window: time.Hour}}
	for _, text := range []string{"", "x", "0 0", "0 0 1 x", "0 0 -1", "0 0 1e9", "0 0 nan", "0 0 inf",
		"0 0 1 1 1 1 1 1 1 1 1 1 1 1"} {
		if err := s.client.Set(t.Context(), "{aql}c:damaged", text, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if counts, err := s.Take(t.Context(), claims); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%q: %+v, %v", text, counts, err)
		}
	}
	if err := s.client.Del(t.Context(), "{aql}c:damaged").Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.client.LPush(t.Context(), "{aql}c:damaged", "a list").Err(); err != nil {
		t.Fatal(err)
	}
	if counts, err := s.Take(t.Context(), claims); err == nil {
		t.Errorf("a list: %+v", counts)
	}
}

func TestGetAndListRefuseDamagedEntries(t *testing.T) {
	s := openForTest(t)
	if _, err := s.Put(t.Context(), "a", nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "short", "0000000000000000", "-000000000000001", "not a number at all"} {
		if err := s.client.Set(t.Context(), "{aql}e:a", text, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Get(t.Context(), "a"); err == nil {
			t.Errorf("%q: %+v", text, e)
		}
		if entries, err := s.List(t.Context(), "", "", 1); err == nil {
			t.Errorf("%q: %+v", text, entries)
		}
	}
}

// Counters must not stay for ever, nor go before they may be forgotten.
func TestCountersGoWhenTheyNoLongerCount(t *testing.T) {
	s := openForTest(t)
	now := time.Now()
	first, second := now.Add(time.Hour), now.Add(3*time.Hour)
	for _, test := range []struct {
		name     string
		claims   []store.Claim
		min, max time.Duration
	}{
		{"window", []store.Claim{{N: 1, Window: time.Minute}}, 66 * time.Second, 68 * time.Second},
		{"period", []store.Claim{{N: 1, Ends: first}}, time.Hour, time.Hour + 2*time.Minute},
		{"period that has ended", []store.Claim{{N: 1, Ends: now.Add(-time.Hour)}}, time.Second, 2 * time.Minute},
		{"clock that is behind", []store.Claim{{N: 1, Ends: second}, {N: 1, Ends: first}}, 3 * time.Hour,
			3*time.Hour + 2*time.Minute},
	} {
		began := time.Now()
		for _, claim := range test.claims {
			claim.Key = test.name
			if _, err := s.Take(t.Context(), []store.Claim{claim}); err != nil {
				t.Fatal(err)
			}
		}
		if ttl, err := s.client.PTTL(t.Context(), "{aql}c:"+test.name).Result(); err != nil ||
			ttl+time.Since(began) < test.min || ttl > test.max {
			t.Errorf("%s: %v, %v; want %v to %v", test.name, ttl, err, test.min, test.max)
		}
	}
	if _, err := s.Take(t.Context(), []store.Claim{{Key: "asked", Window: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.client.Exists(t.Context(), "{aql}c:asked").Result(); err != nil || n != 0 {
		t.Errorf("asking keeps something: %d, %v", n, err)
	}
}

// Errors of the server may repeat what was sent to it.
func TestErrorsDoNotRepeatTheServer(t *testing.T) {
	for code := range meanings {
		if got := refusal(code).Error(); strings.Contains(got, "secret") || strings.Contains(got, code) && code != "ASK" {
			t.Errorf("%s: %s", code, got)
		}
	}
	for _, code := range []string{"ERR", "secret", "se'cret", "", strings.Repeat("A", 100)} {
		if got := refusal(code).Error(); strings.Contains(got, "cret") || len(got) > 120 {
			t.Errorf("%q: %s", code, got)
		}
	}
	if err := refusal("OOM"); !errors.Is(err, store.ErrFull) {
		t.Error(err)
	}
	if err := explain(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
