package calls

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type callerKey struct{}

func callerOf(ctx context.Context) identity.Caller {
	who, _ := ctx.Value(callerKey{}).(identity.Caller)
	return who
}

// A call has who has sent it, what for, what the gate has decided last, and what came of it when.
func TestCallsAreRecorded(t *testing.T) {
	c := &clock{at: noon}
	r := New(c.now, callerOf)
	hooks := r.Hooks()
	who := identity.Caller{Subject: "ann" + strings.Repeat("n", 300), Issuer: "stdio", Scopes: []string{"notes"}}
	ctx := context.WithValue(t.Context(), callerKey{}, who)
	within, end := hooks.Operation(ctx, observe.Operation{Name: "delete_note", Danger: "destructive"})
	hooks.Gate(within, observe.Decision{Operation: "delete_note", Effect: observe.Held, Reason: "confirmation"})
	c.pass(3 * time.Millisecond)
	if calls, _ := r.Last(Kept); len(calls) != 0 {
		t.Errorf("before it is answered there is %+v", calls)
	}
	end(observe.OperationEnd{Code: "CONFIRMATION_REQUIRED"})
	_, end = hooks.Operation(t.Context(), observe.Operation{})
	end(observe.OperationEnd{Code: "NOT_FOUND_OPERATION"})
	want := []Call{
		{Number: 2, At: noon.Add(3 * time.Millisecond), Code: "NOT_FOUND_OPERATION"},
		{
			Number: 1, At: noon.Add(3 * time.Millisecond), Took: 3 * time.Millisecond, Subject: who.Subject[:200],
			Issuer: "stdio", Operation: "delete_note", Danger: "destructive", Effect: observe.Held,
			Code: "CONFIRMATION_REQUIRED",
		},
	}
	calls, minutes := r.Last(Kept)
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
	if len(minutes) != 1 || minutes[0].Calls != 2 || minutes[0].Failed != 2 || minutes[0].Held != 1 {
		t.Errorf("the minutes are %+v", minutes)
	}
}

// A thousand calls are kept, the latest first, and as many of them are returned as are wanted.
func TestTheLastCallsAreKept(t *testing.T) {
	r := New(func() time.Time { return noon }, nil)
	for n := 1; n <= 2*Kept+7; n++ {
		_, end := r.Hooks().Operation(t.Context(), observe.Operation{Name: "look"})
		end(observe.OperationEnd{})
		for _, most := range []int{0, 3, 2 * Kept} {
			calls, _ := r.Last(most)
			if len(calls) != min(most, n, Kept) {
				t.Fatalf("of %d calls, %d of %d are returned", n, len(calls), most)
			}
			for i := range calls {
				if calls[i].Number != uint64(n-i) {
					t.Fatalf("of %d calls, number %d is at %d", n, calls[i].Number, i)
				}
			}
		}
	}
}

// The minutes are those of the last hour in which there was something, also where the clock is set back.
func TestMinutes(t *testing.T) {
	c := &clock{at: noon}
	r := New(c.now, nil)
	ask := func() {
		_, end := r.Hooks().Operation(t.Context(), observe.Operation{Name: "look"})
		end(observe.OperationEnd{})
	}
	last := func() (ago []int64) {
		_, minutes := r.Last(0)
		for _, m := range minutes {
			ago = append(ago, MinuteOf(c.now())-m.Number)
		}
		return ago
	}
	expect := func(want ...int64) {
		t.Helper()
		if got := last(); !slices.Equal(got, want) {
			t.Errorf("minutes ago: %v, want %v", got, want)
		}
	}
	ask()
	c.pass(time.Minute)
	expect(1)
	ask()
	expect(1, 0)
	c.pass(58 * time.Minute)
	expect(59, 58)
	c.pass(time.Minute)
	expect(59)
	c.pass(-61 * time.Minute)
	ask()
	expect(-1, -2)
	c.pass(10 * time.Hour)
	expect()
	for range 200 {
		ask()
		c.pass(time.Minute)
	}
	if got := last(); len(got) != 59 || len(r.minutes) > Minutes {
		t.Errorf("%d minutes, %d kept", len(got), len(r.minutes))
	}
}

// Each decision of the gate is counted once.
func TestDecisionsAreCounted(t *testing.T) {
	r := New(func() time.Time { return noon }, nil)
	for effect, n := range map[observe.Effect]int{
		observe.Allowed: 1, observe.Confirmed: 2, observe.Held: 4, observe.Denied: 8, observe.Failed: 16,
	} {
		for range n {
			r.Hooks().Gate(t.Context(), observe.Decision{Effect: effect})
		}
	}
	_, minutes := r.Last(0)
	want := []Minute{{Number: MinuteOf(noon), Passed: 3, Held: 4, Denied: 8, Undecided: 16}}
	if diff := cmp.Diff(want, minutes); diff != "" {
		t.Error(diff)
	}
}

// The time within which a share of calls were answered is that, or up to a quarter more. It stays so when minutes are
// added, and written as JSON.
func TestTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var took []time.Duration
		var one, other Minute
		for range 1 + random.IntN(200) {
			d := time.Duration(random.ExpFloat64() * float64(50*time.Millisecond))
			took = append(took, d)
			[]*Minute{&one, &other}[random.IntN(2)].Took.add(d)
		}
		text, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		var read Minute
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		one.Add(&read)
		slices.Sort(took)
		for _, share := range []float64{0.5, 0.95, 1} {
			at := 0
			for float64(at+1) < share*float64(len(took)) {
				at++
			}
			got, want := one.Took.Within(share), max(took[at], least)
			if got < want || float64(got) > float64(want)*growth*1.0001 {
				t.Fatalf("%v of %d within %s, want %s", share, len(took), got, want)
			}
		}
	}
}

// However long a call took it is counted, and of none there is no time.
func TestTimesBeyondMeasure(t *testing.T) {
	var times Times
	if got := times.Within(0.95); got != 0 {
		t.Errorf("of no calls: %s", got)
	}
	times.add(1000 * time.Hour)
	if got := times.Within(0.5); len(times) != spans || got < time.Minute {
		t.Errorf("%d spans, %s", len(times), got)
	}
	m := Minute{}
	m.Add(&Minute{Took: make(Times, 10*spans)})
	if len(m.Took) > spans {
		t.Errorf("%d spans of another process", len(m.Took))
	}
}

// Many goroutines record, decide and look at the same time.
func TestRecordersAreShared(t *testing.T) {
	r := New(time.Now, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				ctx, end := r.Hooks().Operation(t.Context(), observe.Operation{Name: "look"})
				all.Go(func() { r.Hooks().Gate(ctx, observe.Decision{Effect: observe.Allowed}) })
				end(observe.OperationEnd{})
				r.Last(10)
			}
		})
	}
	all.Wait()
	if calls, _ := r.Last(Kept); len(calls) != 800 || calls[0].Number != 800 {
		t.Errorf("%d calls", len(calls))
	}
}
