package chaos

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The model knows what must not be, and leaves open what an answer leaves open.
func TestModel(t *testing.T) {
	a, h, s := process{name: "a"}, process{name: "h", human: true}, process{name: "s", stdio: true}
	now := time.Now()
	good := answer{verdict: refused, code: "CONFIRMATION_REQUIRED", token: "conf_x", expires: now.Add(time.Minute)}
	done, lost := answer{verdict: success}, answer{}
	no := func(code string) answer { return answer{verdict: refused, code: code} }
	// ask, and use are attempts of ann to delete a thing, whose places among the events follow from their order.
	ask := attempt{process: a, operation: "delete_thing", id: "x", caller: "ann", got: good}
	use := func(got answer) attempt {
		return attempt{process: a, operation: "delete_thing", id: "x", caller: "ann", token: "conf_x", got: got}
	}
	with := func(from attempt, change func(*attempt)) attempt {
		change(&from)
		return from
	}
	revoke := attempt{process: a, operation: "revoke_tokens", id: "r", caller: "op", revokes: "ann", got: done}
	question := attempt{process: h, operation: "delete_thing", id: "x", caller: "ann",
		got: answer{verdict: refused, code: "ASKED", state: "sealed"}}
	approve := attempt{process: h, operation: "delete_thing", id: "x", caller: "ann", state: "sealed", approved: true,
		got: done}
	asleep := func(a *attempt) { a.process, a.caller = s, "owner" }
	for name, tt := range map[string]struct {
		attempts []attempt
		runs     []int // which of the attempts ran
		want     string
	}{
		"confirmed":                          {[]attempt{ask, use(done)}, []int{1}, ""},
		"confirmed, and the answer was lost": {[]attempt{ask, use(lost)}, []int{1}, ""},
		"not run, and the answer was lost":   {[]attempt{ask, use(lost)}, nil, ""},
		"raced":                              {[]attempt{ask, use(done), use(no("TOKEN_ALREADY_USED"))}, []int{1}, ""},
		"unconfirmed": {
			[]attempt{with(ask, func(a *attempt) { a.got = lost })}, []int{0}, "ran unconfirmed",
		},
		"run by two":       {[]attempt{ask, use(done), use(lost)}, []int{1, 2}, "ran 2 times for conf_x"},
		"run twice by one": {[]attempt{ask, use(done)}, []int{1, 1}, "ran 2 times: delete_thing x"},
		"said to have run": {[]attempt{ask, use(done)}, nil, "says that it ran, and it did not"},
		"said not to have run": {
			[]attempt{ask, use(no("INTERNAL_ERROR"))}, []int{1}, "says that it did not run, and it ran",
		},
		"with a token that was made up": {[]attempt{use(done)}, []int{0}, "was not given to anybody"},
		"with the token of another thing": {
			[]attempt{ask, with(use(done), func(a *attempt) { a.id = "y" })}, []int{1}, "the token of another request",
		},
		"with the token of another caller": {
			[]attempt{ask, with(use(done), func(a *attempt) { a.caller = "bob" })}, []int{1}, "the token of another request",
		},
		"revoked before":  {[]attempt{ask, revoke, use(done)}, []int{1, 2}, "revoked before"},
		"given out after": {[]attempt{revoke, ask, use(done)}, []int{0, 2}, ""},
		"perhaps revoked": {[]attempt{ask, with(revoke, func(a *attempt) { a.got = lost }), use(done)}, []int{2}, ""},
		"expired before": {
			[]attempt{with(ask, func(a *attempt) { a.got.expires = now.Add(-time.Minute) }), use(done)}, []int{1},
			"had expired before",
		},
		"a person approved": {[]attempt{question, approve}, []int{1}, ""},
		"a person did not": {
			[]attempt{question, with(approve, func(a *attempt) { a.approved = false })}, []int{1}, "did not approve",
		},
		"approved twice": {[]attempt{question, approve, approve}, []int{1, 2}, "ran 2 times for sealed"},
		"a token in place of a person": {
			[]attempt{ask, with(use(done), func(a *attempt) { a.process = h })}, []int{1}, "without a person's approval",
		},
		"in its session": {[]attempt{with(ask, asleep), with(use(done), asleep)}, []int{1}, ""},
		"in the next session": {
			[]attempt{with(ask, asleep), with(with(use(done), asleep), func(a *attempt) { a.life = 1 })}, []int{1},
			"the token of another session",
		},
		"said to be used before it was": {
			[]attempt{ask, use(no("TOKEN_ALREADY_USED"))}, nil, "presented for the first time",
		},
		"said to be expired before it is": {[]attempt{ask, use(no("TOKEN_EXPIRED"))}, nil, "the token expires"},
		"said to be unknown":              {[]attempt{ask, use(no("TOKEN_INVALID"))}, nil, "the token is good"},
		"said to be unknown once revoked": {[]attempt{ask, revoke, use(no("TOKEN_INVALID"))}, []int{1}, ""},
		"said to have made all calls": {
			[]attempt{with(ask, func(a *attempt) { a.got = no("RATE_LIMIT_QUOTA_EXHAUSTED") })}, nil, "made 1 calls of 2",
		},
		"too many calls": {
			[]attempt{revoke, with(revoke, func(a *attempt) { a.id = "2" }), with(revoke, func(a *attempt) { a.id = "3" })},
			[]int{0, 1, 2}, "op made 3 calls, of 2 a day",
		},
		"rung too often": {
			[]attempt{with(revoke, func(a *attempt) { a.operation, a.revokes = "ring_bell", "" }),
				with(revoke, func(a *attempt) { a.operation, a.revokes, a.caller = "ring_bell", "", "bob" })},
			[]int{0, 1}, "the bell rang 2 times, of 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h history
			var journal []entry
			for _, a := range tt.attempts {
				begun := h.begin(a)
				h.finish(begun, []answer{a.got})
			}
			for _, i := range tt.runs {
				a := h.attempts[i]
				journal = append(journal, entry{a.process.name, a.operation, a.id, a.caller, a.name})
			}
			faults := judge(h.snapshot(), journal, bounds{calls: 2, bells: 1, days: 1}, true)
			switch got := strings.Join(faults, "\n"); {
			case tt.want == "" && got != "":
				t.Errorf("found %s", got)
			case !strings.Contains(got, tt.want):
				t.Errorf("found %q, not %q", got, tt.want)
			}
		})
	}
	nobodys := []entry{{"a", "delete_thing", "x", "ann", "a1"}}
	if faults := judge(nil, nobodys, bounds{calls: 2, days: 1}, true); len(faults) != 1 {
		t.Errorf("what nobody asked for: %q", faults)
	}
}

// What ran has to be on record, as often as it ran, and a token is on record as used once. A record may be written
// twice.
func TestModelOfRecords(t *testing.T) {
	x := entry{"a", "delete_thing", "x", "ann", "a1"}
	granted := record{Event: "CONFIRMATION_GRANTED", RecordID: "1", TokenID: "t", Operation: "delete_thing"}
	granted.Parameters.ID = "x"
	used := record{Event: "TOKEN_VALIDATED", RecordID: "2", TokenID: "t"}
	again := used
	again.RecordID = "3"
	for name, tt := range map[string]struct {
		records []record
		journal []entry
		want    string
	}{
		"on record":          {[]record{used, granted}, []entry{x}, ""},
		"not run":            {[]record{used, granted}, nil, ""},
		"not destructive":    {nil, []entry{{"a", "create_thing", "x", "ann", "a1"}}, ""},
		"written twice":      {[]record{used, used, granted}, []entry{x}, ""},
		"not on record":      {[]record{used}, []entry{x}, "is not on record"},
		"on record once":     {[]record{used, granted}, []entry{x, x}, "is not on record"},
		"a token used twice": {[]record{used, again, granted}, []entry{x}, "used twice"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(onRecord(tt.records, tt.journal), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// The proxy cuts a connection in the middle of a message, holds messages, and delivers what it held also when their
// sender has gone.
func TestProxy(t *testing.T) {
	dir := t.TempDir()
	server, err := net.Listen("unix", filepath.Join(dir, "server"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	received := make(chan string)
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				text, _ := io.ReadAll(c)
				received <- string(text)
				c.Close()
			}()
		}
	}()
	p := newProxy(t, filepath.Join(dir, "proxy"), filepath.Join(dir, "server"), 1)
	send := func(text string) net.Conn {
		c, err := net.Dial("unix", filepath.Join(dir, "proxy"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, text); err != nil && text != "" {
			t.Fatal(err)
		}
		return c
	}
	send("whole").Close()
	if got := <-received; got != "whole" {
		t.Errorf("without faults: %q", got)
	}
	p.set(func(w *weather) { w.cut[up] = 4 })
	cut := send("message")
	if got := <-received; got != "mes" {
		t.Errorf("cut: %q", got)
	}
	if _, err := cut.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was cut goes on")
	}
	p.set(func(w *weather) { *w = weather{hold: [2]bool{up: true}} })
	send("first").Close()
	send("second").Close()
	for p.tallies.held.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	select {
	case got := <-received:
		t.Errorf("held: %q", got)
	default:
	}
	p.set(func(w *weather) { *w = weather{} })
	if got := []string{<-received, <-received}; got[0]+got[1] != "firstsecond" && got[0]+got[1] != "secondfirst" {
		t.Errorf("late: %q", got)
	}
	p.set(func(w *weather) { w.refuse = true })
	refused := send("")
	if _, err := refused.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was to be refused goes on")
	}
}
