package verify_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
	"github.com/google/go-cmp/cmp"
)

var (
	ann = identity.Caller{Subject: "ann", Issuer: "https://issuer.example"}
	bob = identity.Caller{Subject: "bob", Issuer: "https://issuer.example"}
	eve = identity.Caller{Subject: "eve", Issuer: "stdio"}

	block = verify.Subject{Caller: ann, Agent: "release_bot", Block: true, Reasons: []string{"deny pattern 'rm -rf*'"},
		Says: "run rm -rf /"}
	pause = verify.Subject{Caller: ann, Agent: "writer", Execution: "exec_1"}
)

const wrong = "00000-00000-00000-00000-00000-0"

// records keeps what is on record.
type records struct {
	all  []audit.Record
	fail error
}

func (r *records) Write(_ context.Context, more []audit.Record) error {
	if r.fail == nil {
		r.all = append(r.all, more...)
	}
	return r.fail
}

func (r *records) Close() error { return nil }

// events returns the events on record, with their reasons.
func (r *records) events() (events []string) {
	for _, record := range r.all {
		event := string(record.Event)
		if record.Reason != "" {
			event += ": " + record.Reason
		}
		events = append(events, event)
	}
	return events
}

// fixture is a box in a test.
type fixture struct {
	*verify.Box
	*testing.T
	state   *store.Memory
	records *records
}

// isolated runs a test with a clock of its own.
func isolated(t *testing.T, change func(*verify.Options), f func(fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &records{}
		state := new(store.Memory)
		log := audit.New(audit.Options{
			Sinks: []audit.Sink{r}, Wait: true, Logger: slog.New(slog.DiscardHandler),
		})
		defer log.Close(t.Context())
		options := verify.Options{
			Store: state, Adapter: "notes", Audit: log, Logger: slog.New(slog.DiscardHandler),
		}
		if change != nil {
			change(&options)
		}
		box, err := verify.New(options)
		if err != nil {
			t.Fatal(err)
		}
		f(fixture{box, t, state, r})
	})
}

func (f fixture) open(s verify.Subject) verify.ID {
	f.Helper()
	id, err := f.Open(f.Context(), s)
	if err != nil {
		f.Fatal(err)
	}
	return id
}

func (f fixture) show(id string) verify.Shown {
	f.Helper()
	shown, err := f.Show(f.Context(), eve, id)
	if err != nil {
		f.Fatal(err)
	}
	return shown
}

// failed returns the replacement that a verification names which must fail.
func (f fixture) failed(caller identity.Caller, id, code string) verify.ID {
	f.Helper()
	_, err := f.Verify(f.Context(), caller, id, code)
	failed, ok := errors.AsType[*verify.FailedError](err)
	if !ok {
		f.Fatalf("the verification ends with %v", err)
	}
	return failed.Replacement
}

// held returns what holds agents of ann.
func (f fixture) held() (held []string) {
	f.Helper()
	holds, err := f.Holds(f.Context(), ann)
	if err != nil {
		f.Fatal(err)
	}
	for _, h := range holds {
		if !h.Lifted {
			held = append(held, strings.TrimSpace(h.Agent+" "+h.Execution))
		}
	}
	return held
}

// The ids that blocks are announced with are those that are verified, and not two kinds: the id, and the code that a
// person is shown, in every form in which an agent passes them on, lift the block.
func TestWhatIsShownIsAccepted(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		for i, form := range []func(string) string{
			func(s string) string { return s }, strings.ToLower, strings.ToUpper,
			func(s string) string { return " " + s + "\n" },
		} {
			for _, s := range []verify.Subject{block, pause} {
				s.Agent = fmt.Sprint(s.Agent, i)
				id := f.open(s)
				code := f.show(id.String()).Code.Text()
				got, err := f.Verify(f.Context(), ann, form(id.String()), form(code))
				want := verify.Result{Agent: s.Agent, Execution: s.Execution, Block: s.Block}
				if err != nil || got != want {
					t.Errorf("%+v, %v; want %+v", got, err, want)
				}
			}
		}
		if held := f.held(); held != nil {
			t.Errorf("%v are held", held)
		}
	})
}

// T-98, T-99, T-100, REQ-OV-06: what does not pass a challenge, and what it costs.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		subject verify.Subject
		try     func(f fixture, id verify.ID) (replacement verify.ID)
		held    bool
		stays   bool // the challenge can still be passed
		told    bool // the caller is told a replacement
	}{
		"a wrong code": {
			subject: block, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(ann, id.String(), wrong)
			},
		},
		"a wrong code for a pause": {
			subject: pause, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(ann, id.String(), wrong)
			},
		},
		"no code": {
			subject: block, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(ann, id.String(), "")
			},
		},
		"somebody else has the code": {
			subject: block, held: true, stays: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(bob, id.String(), f.show(id.String()).Code.Text())
			},
		},
		"nobody by name has the code": {
			subject: block, held: true, stays: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(identity.Caller{}, id.String(), f.show(id.String()).Code.Text())
			},
		},
		"an unknown id": {
			subject: block, held: true, stays: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(ann, verify.NewID().String(), f.show(id.String()).Code.Text())
			},
		},
		"no id": {
			subject: block, held: true, stays: true,
			try: func(f fixture, id verify.ID) verify.ID {
				return f.failed(ann, "", f.show(id.String()).Code.Text())
			},
		},
		"an item's id": {
			subject: block, held: true, stays: true,
			try: func(f fixture, id verify.ID) verify.ID {
				shown := f.show(id.String())
				return f.failed(ann, shown.Item.ID, shown.Code.Text())
			},
		},
		"a code that was shown before": {
			subject: block, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				before := f.show(id.String())
				f.show(id.String())
				return f.failed(ann, id.String(), before.Code.Text())
			},
		},
		"the code of another challenge": {
			subject: block, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				other := f.open(verify.Subject{Caller: ann, Agent: "other", Block: true})
				f.show(id.String())
				replacement := f.failed(ann, id.String(), f.show(other.String()).Code.Text())
				if _, err := f.Verify(f.Context(), ann, other.String(), f.show(other.String()).Code.Text()); err != nil {
					t.Error(err)
				}
				return replacement
			},
		},
		"a code that expired": {
			subject: block, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				code := f.show(id.String()).Code.Text()
				time.Sleep(5 * time.Minute)
				return f.failed(ann, id.String(), code)
			},
		},
		"the code of a pause that expired": {
			subject: pause,
			try: func(f fixture, id verify.ID) verify.ID {
				code := f.show(id.String()).Code.Text()
				time.Sleep(5 * time.Minute)
				return f.failed(ann, id.String(), code)
			},
		},
		"a code once more": {
			subject: block,
			try: func(f fixture, id verify.ID) verify.ID {
				code := f.show(id.String()).Code.Text()
				if _, err := f.Verify(f.Context(), ann, id.String(), code); err != nil {
					t.Error(err)
				}
				return f.failed(ann, id.String(), code)
			},
		},
		"a right code after a wrong one": {
			subject: block, held: true, told: true,
			try: func(f fixture, id verify.ID) verify.ID {
				code := f.show(id.String()).Code.Text()
				first := f.failed(ann, id.String(), wrong)
				if again := f.failed(ann, id.String(), code); again != first {
					t.Errorf("the replacement of a challenge that was tried is burnt: %v, and then %v", first, again)
				}
				return first
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			isolated(t, nil, func(f fixture) {
				id := f.open(tt.subject)
				replacement := tt.try(f, id)
				if held := f.held() != nil; held != tt.held || tt.told == replacement.IsZero() || replacement == id {
					t.Errorf("held: %v, and the replacement of %v is %v", held, id, replacement)
				}
				if !tt.held {
					return
				}
				now := f.show(id.String())
				if want := map[bool]verify.ID{true: id, false: replacement}[tt.stays]; now.Challenge != want {
					t.Errorf("then the challenge is %v, want %v", now.Challenge, want)
				}
				if _, err := f.Verify(f.Context(), ann, now.Challenge.String(), now.Code.Text()); err != nil || f.held() != nil {
					t.Errorf("then the right code ends with %v, and %v are held", err, f.held())
				}
			})
		})
	}
}

// T-97: a hold is one of its subject, and stays with it.
func TestHolds(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		first := f.open(block)
		time.Sleep(time.Second)
		second := f.open(pause)
		if f.open(block) != first || f.open(pause) != second {
			t.Error("who is held is held once more")
		}
		if diff := cmp.Diff([]string{"release_bot", "writer exec_1"}, f.held()); diff != "" {
			t.Error(diff)
		}
		if holds, err := f.Holds(f.Context(), bob); len(holds) > 0 || err != nil {
			t.Errorf("bob has %+v, %v", holds, err)
		}
		time.Sleep(5 * time.Minute)
		holds, err := f.Holds(f.Context(), ann)
		if err != nil || len(holds) != 1 || holds[0].Challenge == first || !holds[0].Expires.After(time.Now()) {
			t.Errorf("later: %+v, %v", holds, err)
		}
		if f.open(block) != holds[0].Challenge || f.open(pause) == second {
			t.Error("later: the block has another challenge than it says, or the pause the same one")
		}
		time.Sleep(1000 * time.Hour)
		if diff := cmp.Diff([]string{"release_bot"}, f.held()); diff != "" {
			t.Error(diff)
		}
	})
}

// What was lifted is told until it is forgotten, by one of those who ask.
func TestLiftedHolds(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		id := f.open(pause)
		if err := f.Forget(f.Context(), verify.Hold{}); err == nil {
			t.Error("what holds is forgotten")
		}
		if _, err := f.Verify(f.Context(), ann, id.String(), f.show(id.String()).Code.Text()); err != nil {
			t.Fatal(err)
		}
		holds, err := f.Holds(f.Context(), ann)
		if err != nil || len(holds) != 1 || !holds[0].Lifted || holds[0].By != nil || holds[0].LiftedAt.IsZero() {
			t.Fatalf("%+v, %v", holds, err)
		}
		if err := f.Forget(f.Context(), holds[0]); err != nil {
			t.Error(err)
		}
		if err := f.Forget(f.Context(), holds[0]); !errors.Is(err, store.ErrConflict) {
			t.Errorf("twice: %v", err)
		}
		if again := f.open(pause); again == id || f.held() == nil {
			t.Error("the execution is not paused once more")
		}
	})
}

// A pause that was lifted is known as long as the one who enforces it needs, whatever process has lifted it, and a
// block until its end was taken note of.
func TestLiftedHoldsAreRemembered(t *testing.T) {
	isolated(t, func(o *verify.Options) { o.Remembered = 2 * time.Hour }, func(f fixture) {
		f.open(pause)
		f.open(block)
		people, err := verify.New(verify.Options{Store: f.state})
		if err != nil {
			t.Fatal(err)
		}
		inbox := people.Inbox(approve.New(f.state))
		items, err := inbox.List(f.Context())
		if err != nil || len(items) != 2 {
			t.Fatalf("%+v, %v", items, err)
		}
		if lifted, err := f.Lifted(f.Context()); err != nil || len(lifted) != 0 {
			t.Errorf("before: %+v, %v", lifted, err)
		}
		for _, item := range items {
			_, err := inbox.Vote(f.Context(), item.ID, approve.Vote{
				By: identity.Caller{Subject: "eve"}, Approve: true, Reason: "a rehearsal", At: time.Now(),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2*time.Hour - time.Second)
		if holds, err := f.Holds(f.Context(), ann); err != nil || len(holds) != 2 || !holds[0].Lifted || !holds[1].Lifted {
			t.Errorf("before two hours: %+v, %v", holds, err)
		}
		time.Sleep(1000 * time.Hour)
		lifted, err := f.Lifted(f.Context())
		if err != nil || len(lifted) != 1 || !lifted[0].Lifted || lifted[0].Caller.Key() != ann.Key() {
			t.Fatalf("long after: %+v, %v", lifted, err)
		}
		if holds, err := f.Holds(f.Context(), ann); err != nil || len(holds) != 1 || !holds[0].Block {
			t.Errorf("long after: %+v, %v", holds, err)
		}
		if err := f.Forget(f.Context(), lifted[0]); err != nil {
			t.Error(err)
		}
		if lifted, err := f.Lifted(f.Context()); err != nil || len(lifted) != 0 {
			t.Errorf("forgotten: %+v, %v", lifted, err)
		}
	})
}

// T-101, REQ-OV-08: a person lifts a hold without its code, with a reason, and denies none.
func TestOverride(t *testing.T) {
	isolated(t, func(o *verify.Options) {
		o.Needs = approve.Needs{Factors: []approve.Factor{{Count: 2}}}
	}, func(f fixture) {
		id := f.open(block)
		code := f.show(id.String())
		inbox := f.Inbox(approve.New(f.state))
		vote := func(by string, approves bool, reason string) error {
			_, err := inbox.Vote(f.Context(), code.Item.ID, approve.Vote{
				By: identity.Caller{Subject: by}, Channel: approve.Terminal, Approve: approves, Reason: reason, At: time.Now(),
			})
			return err
		}
		if err := vote("eve", false, "no"); !errors.Is(err, approve.ErrHeld) {
			t.Errorf("a denial: %v", err)
		}
		if err := vote("eve", true, ""); !errors.Is(err, approve.ErrNoReason) {
			t.Errorf("no reason: %v", err)
		}
		if err := vote("eve", true, "a rehearsal"); err != nil || f.held() == nil {
			t.Errorf("one of two: %v, held: %v", err, f.held())
		}
		if err := vote("mia", true, "so I heard"); err != nil || f.held() != nil {
			t.Errorf("two of two: %v, held: %v", err, f.held())
		}
		if err := vote("mia", true, "again"); !errors.Is(err, approve.ErrDecided) {
			t.Errorf("afterwards: %v", err)
		}
		f.failed(ann, id.String(), code.Code.Text())
		holds, err := f.Holds(f.Context(), ann)
		if err != nil || len(holds) != 1 || len(holds[0].By) != 2 {
			t.Errorf("%+v, %v", holds, err)
		}
		got := f.records.events()
		want := []string{
			"CHALLENGE_OPENED", "CHALLENGE_SHOWN", "ADMIN_OVERRIDE: so I heard", "CHALLENGE_FAILED: over",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// The inbox has an item for each hold, beside its own.
func TestInbox(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		own := approve.New(f.state)
		asked, _, err := own.Ask(f.Context(), approve.Question{
			Kind: approve.Confirmation, Caller: ann, At: time.Now(), Lifetime: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		f.open(block)
		time.Sleep(time.Second)
		id := f.open(pause)
		inbox := f.Inbox(own)
		items, err := inbox.List(f.Context())
		if err != nil || len(items) != 3 || items[0].ID != asked.ID || items[1].Kind != approve.Block ||
			items[1].Agent != "release_bot" || items[1].Params != `{"next_action":"run rm -rf /"}` ||
			items[1].StateAt(time.Now().Add(1000*time.Hour)) != approve.Open || items[2].Kind != approve.Pause ||
			items[2].Challenge != id.String() || items[2].Execution != "exec_1" {
			t.Fatalf("%+v, %v", items, err)
		}
		for _, item := range items {
			if got, err := inbox.Get(f.Context(), item.ID); err != nil || got.ID != item.ID {
				t.Errorf("%+v, %v", got, err)
			}
		}
		if _, err := inbox.Get(f.Context(), "ask_X"); !errors.Is(err, approve.ErrUnknown) {
			t.Errorf("an unknown item: %v", err)
		}
		f.failed(ann, id.String(), wrong)
		if got, err := inbox.Get(f.Context(), items[2].ID); err != nil || got.Challenge == id.String() {
			t.Errorf("after a failure the item is %+v, %v", got, err)
		}
		time.Sleep(10 * time.Minute)
		if got, err := inbox.Get(f.Context(), items[2].ID); err != nil || got.StateAt(time.Now()) != approve.Expired {
			t.Errorf("after its time the item is %+v, %v", got, err)
		}
		if _, err := f.Show(f.Context(), eve, items[2].ID); !errors.Is(err, approve.ErrExpired) {
			t.Errorf("the code of a pause that has expired: %v", err)
		}
		if _, err := f.Show(f.Context(), eve, asked.ID); !errors.Is(err, approve.ErrUnknown) {
			t.Errorf("the code of a confirmation: %v", err)
		}
		if _, err := f.Show(f.Context(), identity.Caller{}, items[1].ID); !errors.Is(err, verify.ErrNobody) {
			t.Errorf("nobody: %v", err)
		}
		vote := approve.Vote{By: eve, Approve: true, At: time.Now()}
		if got, err := inbox.Vote(f.Context(), asked.ID, vote); err != nil || got.State != approve.Approved {
			t.Errorf("a confirmation is %+v, %v", got, err)
		}
	})
}

// REQ-OV-10: a caller has ten failures in a minute about an agent, and who goes on waits twice as long each time, up to
// an hour. Others, and other agents of the caller, are not held up.
func TestTooManyFailures(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		id := f.open(block)
		other := f.open(verify.Subject{Caller: ann, Agent: "other", Block: true})
		others := f.open(verify.Subject{Caller: bob, Agent: "release_bot", Block: true})
		for _, window := range []time.Duration{
			time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute,
			66 * time.Minute, 66 * time.Minute, // the store counts for a tenth longer
		} {
			for range 10 {
				id = f.failed(ann, id.String(), wrong)
			}
			code := f.show(id.String()).Code.Text()
			var many *verify.TooManyError
			for _, at := range []time.Duration{0, window - time.Second} { // the second is counted from the first on
				time.Sleep(at)
				if _, err := f.Verify(f.Context(), ann, id.String(), code); !errors.As(err, &many) {
					t.Fatalf("after ten failures: %v", err)
				}
			}
			if wait := time.Until(many.Until); wait != time.Second {
				t.Fatalf("in a window of %v, %v before its end: wait %v", window, time.Second, wait)
			}
			time.Sleep(time.Second)
			id = f.open(block)
		}
		for caller, id := range map[string]verify.ID{"ann": other, "bob": others} {
			now := f.show(id.String())
			if _, err := f.Verify(f.Context(), identity.Caller{Subject: caller, Issuer: ann.Issuer},
				now.Challenge.String(), now.Code.Text()); err != nil {
				t.Errorf("%s is held up: %v", caller, err)
			}
		}
		time.Sleep(3 * time.Hour) // it is quiet
		id = f.open(block)
		for range 10 {
			id = f.failed(ann, id.String(), wrong)
		}
		_, err := f.Verify(f.Context(), ann, id.String(), wrong)
		if many, ok := errors.AsType[*verify.TooManyError](err); !ok || time.Until(many.Until) != time.Minute {
			t.Errorf("after it was quiet: %v", err)
		}
	})
}

// A code that was right is no failure.
func TestSuccessIsNoFailure(t *testing.T) {
	isolated(t, func(o *verify.Options) { o.Failures = 1 }, func(f fixture) {
		for range 20 {
			id := f.open(block)
			if _, err := f.Verify(f.Context(), ann, id.String(), f.show(id.String()).Code.Text()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// REQ-AU-01, REQ-AU-05, REQ-OV-10: what becomes of challenges is on record, with whose they are.
func TestRecords(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		id := f.open(block)
		f.show(id.String())
		id = f.failed(ann, id.String(), wrong)
		f.failed(bob, id.String(), wrong)
		time.Sleep(5 * time.Minute)
		f.held()
		if _, err := f.Verify(f.Context(), ann, f.open(block).String(), f.show(id.String()).Code.Text()); err != nil {
			t.Error(err)
		}
		f.open(pause)
		time.Sleep(5 * time.Minute)
		f.held()
		want := []string{
			"CHALLENGE_OPENED", "CHALLENGE_SHOWN", "CHALLENGE_FAILED: wrong code",
			"CHALLENGE_OPENED: replaces one that was tried", "CHALLENGE_FAILED: unknown", "CHALLENGE_EXPIRED",
			"CHALLENGE_OPENED: replaces one that has expired", "CHALLENGE_SHOWN", "CHALLENGE_VERIFIED",
			"CHALLENGE_OPENED", "CHALLENGE_EXPIRED",
		}
		if diff := cmp.Diff(want, f.records.events()); diff != "" {
			t.Error(diff)
		}
		shown := f.records.all[1]
		if shown.Caller.Subject != "eve" || shown.Agent != "release_bot" || shown.ApprovalID == "" ||
			f.records.all[0].ChallengeID != shown.ChallengeID || f.records.all[3].ChallengeID != id.String() {
			t.Errorf("%+v", f.records.all)
		}
	})
}

// What cannot be put on record does not happen: nobody is shown a code, and nobody is let go.
func TestWithoutRecords(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		id := f.open(block)
		f.show(id.String())
		full := errors.New("the disk is full")
		f.records.fail = full
		if _, err := f.Show(f.Context(), eve, id.String()); err == nil {
			t.Error("a code is shown")
		}
		f.records.fail = nil
		code := f.show(id.String())
		f.records.fail = full
		if _, err := f.Verify(f.Context(), ann, id.String(), code.Code.Text()); err == nil {
			t.Error("the challenge is passed")
		}
		if _, err := f.Inbox(approve.New(f.state)).Vote(f.Context(), code.Item.ID, approve.Vote{
			By: eve, Approve: true, Reason: "fine", At: time.Now(),
		}); err == nil {
			t.Error("the block is overridden")
		}
		f.records.fail = nil
		if f.held() == nil {
			t.Error("the agent is let go")
		}
		f.failed(ann, id.String(), code.Code.Text())
	})
}

// A hold that cannot be read holds all agents of its caller, and only those.
func TestDamage(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		f.open(block)
		entries, err := f.state.List(f.Context(), "verify/", "", 10)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%+v, %v", entries, err)
		}
		other := strings.Replace(string(entries[0].Value), "release_bot", "other", 1)
		for _, damaged := range []string{"", "x", "1", "1{}", other} {
			latest, err := f.state.Get(f.Context(), entries[0].Key)
			if err == nil {
				_, err = f.state.Put(f.Context(), entries[0].Key, []byte(damaged), latest.Version, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			if holds, err := f.Holds(f.Context(), ann); err == nil {
				t.Errorf("%q is read as %+v", damaged, holds)
			}
			if id, err := f.Open(f.Context(), block); err == nil {
				t.Errorf("%q is replaced by %v", damaged, id)
			}
			if _, err := f.Holds(f.Context(), bob); err != nil {
				t.Errorf("bob is held: %v", err)
			}
			_, err = f.Inbox(approve.New(f.state)).List(f.Context())
			if unreadable, ok := errors.AsType[*approve.UnreadableError](err); !ok || unreadable.Entries != 1 {
				t.Errorf("people see %v", err)
			}
		}
	})
}

// An agent that pauses execution after execution is stopped before people no longer look, and can still be blocked.
func TestManyPauses(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		for i := range 200 {
			f.open(verify.Subject{Caller: ann, Agent: "writer", Execution: fmt.Sprint(i)})
		}
		if _, err := f.Open(f.Context(), pause); !errors.Is(err, verify.ErrTooMany) {
			t.Errorf("one more: %v", err)
		}
		f.open(block)
		time.Sleep(5 * time.Minute)
		f.open(pause)
	})
}

// Whoever is held by any name is found again, with what they said. A name that could not be read again is refused.
func TestNames(t *testing.T) {
	isolated(t, nil, func(f fixture) {
		caller := identity.Caller{Subject: "\x00\"\u2028<ann>\u202e", Issuer: "\\ / \U0001f600"}
		id := f.open(verify.Subject{
			Caller: caller, Agent: "a/b \"c\"", Block: true, Says: "\xff\x00\ufffd", Reasons: []string{"\xff"},
		})
		if _, err := f.Verify(f.Context(), caller, id.String(), f.show(id.String()).Code.Text()); err != nil {
			t.Error(err)
		}
		for _, s := range []verify.Subject{
			{Caller: identity.Caller{Subject: "\xff"}, Block: true}, {Caller: ann, Agent: "\xff", Block: true},
			{Caller: ann, Execution: "\xff"}, {Caller: identity.Caller{Subject: "ann", Issuer: "\xff"}},
		} {
			if id, err := f.Open(f.Context(), s); err == nil {
				t.Errorf("%+v has the challenge %v", s, id)
			}
		}
	})
}
