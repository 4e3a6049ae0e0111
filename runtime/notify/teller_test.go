package notify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// An item is told once on each channel, with who asks for what and until when, and nothing that the agent has chosen.
func TestAnItemIsToldOnce(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone, desk := &bell{name: "phone", strength: verify.OtherDevice}, &bell{name: "desk", strength: verify.SameUser}
		defer f.start(notify.Options{}, phone, desk)()
		pass(time.Minute)
		item := f.ask(ann)
		pass(10 * time.Second)
		want := "notes: 1 item waits for you\n" +
			"ann (test) asks for delete_note (destructive), until " + item.Expires.Format("15:04 MST") + "."
		if got := phone.texts(); got != want {
			t.Errorf("people are told %q, want %q", got, want)
		}
		if got := desk.texts(); got != want {
			t.Errorf("people are told %q on the other channel, want %q", got, want)
		}
		pass(10 * time.Minute)
		if got := phone.texts() + desk.texts(); got != "" {
			t.Errorf("people are told again: %q", got)
		}
	})
}

// Two channels of the same name, such as two topics of one server, are two.
func TestChannelsOfTheSameName(t *testing.T) {
	isolated(t, func(f *fixture) {
		anns, bobs := &bell{name: "ntfy ntfy.sh"}, &bell{name: "ntfy ntfy.sh"}
		for range 2 {
			defer f.start(notify.Options{}, anns, bobs)()
		}
		f.ask(ann)
		pass(time.Minute)
		if one, two := len(anns.told()), len(bobs.told()); one != 1 || two != 1 {
			t.Errorf("they are told %d and %d times", one, two)
		}
	})
}

// However many processes share the store, and are started anew, an item is told once.
func TestAnItemIsToldOnceByAllProcesses(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		var ends []func()
		for range 8 {
			ends = append(ends, f.start(notify.Options{}, phone))
		}
		var want []string
		for range 5 {
			want = append(want, f.ask(ann).ID)
			pass(70 * time.Second)
			ends = append(ends, f.start(notify.Options{}, phone))
			ends[0]()
			ends = ends[1:]
		}
		var got []string
		for _, n := range phone.told() {
			got = append(got, ids(n.Items))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("told are %q, want each of %q once", got, want)
		}
		for _, end := range ends {
			end()
		}
	})
}

// What is decided before people could be told of it is not told.
func TestWhatIsDecidedIsNotTold(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		f.deny(f.ask(ann).ID)
		defer f.start(notify.Options{}, phone)()
		pass(time.Minute)
		if got := phone.texts(); got != "" {
			t.Errorf("people are told %q", got)
		}
	})
}

// The items of an adapter that shares the store are told by that one.
func TestOtherAdaptersTellWhatWaitsForThem(t *testing.T) {
	isolated(t, func(f *fixture) {
		other := approve.Question{
			Binding: approve.Binding{1}, Kind: approve.Confirmation, Adapter: "shop", Operation: "refund", Caller: ann,
			At: time.Now(), Lifetime: time.Minute,
		}
		if _, _, err := f.inbox.Ask(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		phone := &bell{name: "phone"}
		defer f.start(notify.Options{}, phone)()
		pass(time.Minute)
		if got := phone.texts(); got != "" {
			t.Errorf("people are told %q", got)
		}
	})
}

// An agent that asks for much is told of in few notices, and hides neither what others ask nor that an agent is
// blocked.
func TestFloodsAreGrouped(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		defer f.start(notify.Options{PerHour: 10}, phone)()
		told := make(map[string]int)
		count, last := 0, 0
		for i := range 150 {
			caller := bob
			if i%25 == 12 {
				caller = ann
			}
			if item := f.ask(caller); i%3 == 0 {
				f.deny(item.ID)
			}
			if i == 100 {
				f.block("release_bot")
			}
			pass(8 * time.Second)
			for _, n := range phone.told() {
				count++
				for _, item := range n.Items {
					told[item.Caller.Subject]++
				}
				if n.Urgent() {
					told["blocked"]++
				}
				if n.Last {
					last++
				}
				if len(n.Items) > 10 || len(n.Items)+n.More > n.Waiting {
					t.Errorf("a notice has %d items, %d more and %d that wait", len(n.Items), n.More, n.Waiting)
				}
			}
		}
		if count > 11 || last != 1 || told["blocked"] != 1 {
			t.Errorf("in 20 minutes, people are told %d times, of them %d times the last one, and of %v", count, last, told)
		}
		pass(70 * time.Minute)
		if got := phone.told(); len(got) > 1 {
			t.Errorf("when there is room again, people are told %d times", len(got))
		}
	})
}

// Of equally urgent items each caller has one before another has a second.
func TestNobodyHidesWhatOthersAsk(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		var bobs []approve.Item
		for range 40 {
			bobs = append(bobs, f.ask(bob))
			pass(time.Second)
		}
		anns := f.ask(ann)
		defer f.start(notify.Options{}, phone)()
		pass(time.Second)
		told := phone.told()
		if len(told) != 1 {
			t.Fatalf("people are told %d times", len(told))
		}
		n := told[0]
		if want := bobs[0].ID + " " + anns.ID + " " + bobs[1].ID; !strings.HasPrefix(ids(n.Items), want) {
			t.Errorf("the items are %s, want %s first", ids(n.Items), want)
		}
		if n.More != 31 || !strings.HasSuffix(n.Text(), "\nAnd 36 more.") {
			t.Errorf("there are %d more, and the text is %q", n.More, n.Text())
		}
	})
}

// block holds an agent.
func (f *fixture) block(agent string) {
	f.Helper()
	_, err := f.box.Open(f.Context(), verify.Subject{
		Caller: bob, Agent: agent, Block: true, Reasons: []string{"deny pattern 'rm -rf*'"}, Says: "run rm -rf /srv",
	})
	if err != nil {
		f.Fatal(err)
	}
}

// A block is urgent, and people are told when it is lifted, by whom, whether the block is still known or forgotten.
func TestBlocks(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		isolated(t, func(f *fixture) {
			phone := &bell{name: "phone"}
			f.ask(ann)
			f.block("release_bot")
			defer f.start(notify.Options{}, phone)()
			pass(10 * time.Second)
			told := phone.told()
			if len(told) != 1 || !told[0].Urgent() || told[0].Items[0].Agent != "release_bot" {
				t.Fatalf("people are told %+v", told)
			}
			if got, want := told[0].Title(), "notes: an agent is blocked"; got != want {
				t.Errorf("the title is %q, want %q", got, want)
			}
			first := "Agent 'release_bot' of bob (test) is blocked until somebody lets it go on.\n"
			if got := told[0].Text(); !strings.HasPrefix(got, first) {
				t.Errorf("the text is %q, want %q first", got, first)
			}
			if _, err := f.inbox.Vote(t.Context(), told[0].Items[0].ID, approve.Vote{
				By: ann, Approve: true, Reason: "a rehearsal", At: time.Now(),
			}); err != nil {
				t.Fatal(err)
			}
			want := "notes: an agent is no longer blocked\n" +
				"Agent 'release_bot' of bob (test) is no longer blocked: lifted by ann (test).\nIn all, 1 item waits."
			if forgotten {
				holds, err := f.box.Lifted(t.Context())
				if err != nil || len(holds) != 1 {
					t.Fatal(holds, err)
				}
				if err := f.box.Forget(t.Context(), holds[0]); err != nil {
					t.Fatal(err)
				}
				want = strings.Replace(want, ": lifted by ann (test)", "", 1)
			}
			pass(10 * time.Second)
			if got := phone.texts(); got != want {
				t.Errorf("people are told %q, want %q", got, want)
			}
			pass(time.Hour)
			if got := phone.texts(); got != "" {
				t.Errorf("people are told again: %q", got)
			}
		})
	}
}

// A block that cannot be read any more still holds, so nobody is told that it was lifted.
func TestBlocksThatCannotBeRead(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		f.block("release_bot")
		defer f.start(notify.Options{}, phone)()
		pass(10 * time.Second)
		if told := phone.told(); len(told) != 1 || !told[0].Urgent() {
			t.Fatalf("people are told %+v", told)
		}
		entries, err := f.state.List(t.Context(), "verify/", "", 10)
		if err != nil || len(entries) == 0 {
			t.Fatal(entries, err)
		}
		for _, entry := range entries {
			if _, err := f.state.Put(t.Context(), entry.Key, []byte("?"), entry.Version, 0); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Minute)
		if got := phone.texts(); got != "" {
			t.Errorf("people are told %q", got)
		}
	})
}

// People are told once more before an item expires, where that is configured.
func TestItemsThatExpireSoon(t *testing.T) {
	isolated(t, func(f *fixture) {
		once, twice := &bell{name: "once"}, &bell{name: "twice"}
		defer f.start(notify.Options{}, once)()
		for range 3 {
			defer f.start(notify.Options{Again: time.Minute}, twice)()
		}
		item := f.ask(ann)
		pass(3 * time.Minute)
		if first := twice.told(); len(first) != 1 || first[0].Items[0].Soon {
			t.Errorf("people are told first %+v", first)
		}
		pass(time.Hour)
		again := twice.told()
		if len(again) != 1 || !again[0].Items[0].Soon || again[0].Items[0].ID != item.ID ||
			item.Expires.Sub(again[0].At) < 50*time.Second {
			t.Errorf("before it expires, people are told %+v", again)
		}
		if n := len(once.told()); n != 1 {
			t.Errorf("without the option, people are told %d times", n)
		}
	})
}

type patient struct{ after time.Duration }

func (p patient) Error() string { return "not now" }

func (p patient) RetryAfter() time.Duration { return p.after }

// What fails is tried again, ever more rarely, with the same identity, and no other channel waits for it.
func TestWhatFailsIsTriedAgain(t *testing.T) {
	isolated(t, func(f *fixture) {
		var log logged
		seen := make(map[string]bool)
		var at []time.Time
		broken := &bell{name: "broken"}
		broken.fails = func(n int) error {
			at = append(at, time.Now())
			switch {
			case n < 5:
				return errors.New("nobody is there")
			case n == 5:
				return patient{10 * time.Minute}
			}
			return nil
		}
		sound := &bell{name: "sound"}
		defer f.start(notify.Options{Logger: log.logger()}, broken, sound)()
		f.block("release_bot") // which waits for as long as it takes
		pass(4 * time.Second)
		if len(sound.told()) != 1 {
			t.Error("a channel waits for another one")
		}
		pass(time.Hour)
		told := broken.told()
		for _, n := range told {
			seen[n.ID] = true
		}
		if len(told) != 1 || len(at) != 7 {
			t.Fatalf("people are told %d times, at the try %d", len(told), len(at))
		}
		for i, least := range []time.Duration{1, 2, 4, 8, 16, 600} {
			if waited := at[i+1].Sub(at[i]); waited < least*time.Second*8/10 {
				t.Errorf("after the failure %d the next try is %v later, want %v or so", i+1, waited, least*time.Second)
			}
		}
		if n := strings.Count(log.String(), "people were not told what waits for them"); n != 6 {
			t.Errorf("%d failures are logged:\n%s", n, &log)
		}
		if !strings.Contains(log.String(), "People are told again what waits for them") {
			t.Errorf("the end of the outage is not logged:\n%s", &log)
		}
	})
}

// The identity of a notice is that of its news, so that a receiver knows what it has.
func TestTheSameNewsHaveTheSameIdentity(t *testing.T) {
	isolated(t, func(f *fixture) {
		var tried []notify.Notice
		phone := &recorder{tell: func(n notify.Notice) error {
			tried = append(tried, n)
			if len(tried) < 3 {
				return errors.New("no answer")
			}
			return nil
		}}
		defer f.start(notify.Options{}, phone)()
		f.ask(ann)
		pass(time.Minute)
		f.ask(ann)
		pass(time.Minute)
		if len(tried) != 4 || tried[0].ID != tried[1].ID || tried[1].ID != tried[2].ID || tried[2].ID == tried[3].ID {
			t.Errorf("the notices are %+v", tried)
		}
	})
}

// What is wrong is an error at once.
func TestWrongOptions(t *testing.T) {
	phone := &bell{name: "phone"}
	for name, change := range map[string]func(*notify.Options){
		"no store":           func(o *notify.Options) { o.Store = nil },
		"no adapter":         func(o *notify.Options) { o.Adapter = "" },
		"no channel":         func(o *notify.Options) { o.Channels = nil },
		"a link to a script": func(o *notify.Options) { o.Link = "javascript:alert(1)" },
		"a link with a user": func(o *notify.Options) { o.Link = "https://ann:secret@console.example.com" },
		"a relative link":    func(o *notify.Options) { o.Link = "/console" },
		"a negative number":  func(o *notify.Options) { o.PerHour = -1 },
	} {
		o := notify.Options{Store: new(store.Memory), Adapter: "notes", Channels: []notify.Channel{phone}}
		change(&o)
		if _, err := notify.Start(t.Context(), o); err == nil {
			t.Errorf("%s: there is no error", name)
		}
	}
}

// recorder is a channel of a function.
type recorder struct {
	bell
	tell func(notify.Notice) error
}

func (r *recorder) Tell(_ context.Context, n notify.Notice) error { return r.tell(n) }
