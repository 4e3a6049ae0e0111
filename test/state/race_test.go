package state

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// goroutines race in each round, spread over the processes.
const goroutines = 64

// REQ-CT-09, REQ-CT-10: of many calls that present one token at the same time, in several processes, one succeeds.
func TestOneTokenIsRedeemedOnce(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			location := p.open(t)
			session := newSession(t, location)
			raceRounds(t, location, p.processes, func(round int) string {
				caller := fmt.Sprintf("round-%d", round)
				asked, err := remove(t.Context(), session, caller, "x", "")
				if err != nil || asked.Error.Details.Token == "" {
					t.Fatalf("the first request: %+v, %v", asked, err)
				}
				return "delete " + caller + " " + asked.Error.Details.Token
			})
		})
	}
}

// The last place of a quota goes to one.
func TestTheLastPlaceOfAQuotaIsTakenOnce(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			raceRounds(t, p.open(t), p.processes, func(round int) string { return fmt.Sprintf("get place-%d -", round) })
		})
	}
}

func newSession(t *testing.T, location string) *aql.Session {
	t.Helper()
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	adapter, err := newAdapter(aql.Options{State: state, StateTimeout: patience, Quota: raceQuota,
		Confirmation: aql.Confirmation{IssuesPerMinute: -1}}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	t.Cleanup(session.Close)
	return session
}

// raceRounds lets processes race for what prepare names, and counts who got through.
func raceRounds(t *testing.T, location string, processes int, prepare func(round int) string) {
	t.Helper()
	workers := make([]*process, processes)
	for i := range workers {
		workers[i] = start(t, "race", location)
	}
	for _, w := range workers {
		if got := w.line(t); got != "ready" {
			t.Fatal(got)
		}
	}
	shares := make([]int, processes)
	for round := range rounds(t) {
		command, day := prepare(round), time.Now().UTC().YearDay()
		for i, w := range workers {
			n := goroutines / processes
			if i < goroutines%processes {
				n++
			}
			if _, err := fmt.Fprintln(w.in, command, n); err != nil {
				t.Fatal(err)
			}
		}
		through := 0
		for i, w := range workers {
			n, err := strconv.Atoi(w.line(t))
			if err != nil {
				t.Fatal(err)
			}
			through += n
			shares[i] += n
		}
		if through != 1 && time.Now().UTC().YearDay() == day { // the quota of a day starts anew at midnight
			t.Fatalf("round %d: %d got through, want 1", round, through)
		}
	}
	for _, w := range workers {
		w.in.Close()
		if err := w.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}
	t.Logf("won by process: %v", shares)
}
