package chaos

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// bounds are the limits of the adapters in a test.
type bounds struct {
	calls    int // of a caller on a day
	bells    int // of all callers on a day
	days     int // on which the test ran
	lifetime time.Duration
}

// judgement is a history beside the journal.
type judgement struct {
	attempts []*attempt
	limits   bounds
	asked    map[string]*attempt // by the token or the state that it was answered with
	used     map[string][]*attempt
	began    map[string][]int64    // by caller: when attempts began
	revoked  map[string][]*attempt // by the caller whose tokens they revoke
	ran      map[*attempt]int      // how often
	faults   []string
}

// judge returns what is wrong with a history. The journal must have been read after it, and may be longer unless the
// history is whole.
func judge(attempts []*attempt, journal []entry, limits bounds, whole bool) []string {
	j := &judgement{
		attempts: attempts, limits: limits, ran: make(map[*attempt]int), asked: make(map[string]*attempt),
		used: make(map[string][]*attempt), began: make(map[string][]int64), revoked: make(map[string][]*attempt),
	}
	for _, a := range attempts {
		for _, key := range []string{a.got.token, a.got.state} {
			if key != "" && a.token != key {
				j.asked[key] = a
			}
		}
		if key := a.presents(); key != "" {
			j.used[key] = append(j.used[key], a)
		}
		if a.revokes != "" {
			j.revoked[a.revokes] = append(j.revoked[a.revokes], a)
		}
		if !a.process.stdio {
			j.began[a.caller] = append(j.began[a.caller], a.start)
		}
	}
	j.assign(journal, whole)
	for _, a := range attempts {
		j.runsOf(a)
		if a.end != 0 {
			j.answerOf(a)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(j.used)) {
		runs := 0
		for _, a := range j.used[key] {
			runs += j.ran[a]
		}
		if runs > 1 {
			j.faults = append(j.faults, fmt.Sprintf("%s ran %d times for %s", j.used[key][0].id, runs, key))
		}
	}
	j.count(journal)
	return j.faults
}

// presents returns the token or the state of an attempt; empty: it has none.
func (a *attempt) presents() string {
	if a.state != "" {
		return a.state
	}
	return a.token
}

func (j *judgement) fault(a *attempt, format string, args ...any) {
	j.faults = append(j.faults, fmt.Sprintf("%s: %s %s of %s at %s, answered %s %s %q", fmt.Sprintf(format, args...),
		a.operation, a.id, a.caller, a.process.name, a.got.verdict, a.got.code, a.got.detail))
}

// assign finds the attempt of each line of the journal.
func (j *judgement) assign(journal []entry, whole bool) {
	type place struct{ of, operation, id, caller string }
	at := make(map[place][]*attempt)
	for _, a := range j.attempts {
		p := place{a.name, a.operation, a.id, a.caller}
		if a.process.stdio {
			p.of, p.caller = a.process.name, ""
		}
		at[p] = append(at[p], a)
	}
	for _, e := range journal {
		p := place{e.Attempt, e.Operation, e.ID, e.Caller}
		if e.Attempt == "" {
			p.of, p.caller = e.Process, ""
		}
		a := j.likeliest(at[p])
		switch {
		case a == nil && whole:
			j.faults = append(j.faults, fmt.Sprintf("nobody asked for what ran: %+v", e))
		case a == nil:
		case a.process.name != e.Process:
			j.fault(a, "another process ran it than was asked: %+v", e)
		default:
			j.ran[a]++
		}
	}
}

// likeliest chooses between the attempts that a line may be of, of one call or on stdio: one that was answered with
// success, else one that may have run.
func (j *judgement) likeliest(candidates []*attempt) *attempt {
	var chosen *attempt
	best := -1
	for _, a := range candidates {
		likely := 0
		switch {
		case j.ran[a] > 0:
		case a.got.verdict == success:
			likely = 3
		case a.got.verdict == unknown && a.presents() != "":
			likely = 2
		case a.presents() != "":
			likely = 1
		}
		if likely > best {
			chosen, best = a, likely
		}
	}
	return chosen
}

// runsOf judges that an attempt ran, if it did.
func (j *judgement) runsOf(a *attempt) {
	n := j.ran[a]
	if n > 1 {
		j.fault(a, "ran %d times", n)
	}
	switch {
	case n > 0 && a.got.verdict == refused:
		j.fault(a, "the answer says that it did not run, and it ran")
	case n == 0 && a.got.verdict == success:
		j.fault(a, "the answer says that it ran, and it did not")
	}
	if n == 0 || a.operation != "delete_thing" && a.operation != "burn_thing" {
		return
	}
	if why := j.unconfirmed(a); why != "" {
		j.fault(a, "ran %s", why)
	}
}

// unconfirmed returns why an attempt must not run; empty: it may.
func (j *judgement) unconfirmed(a *attempt) string {
	key := a.presents()
	asked := j.asked[key]
	switch {
	case key == "":
		return "unconfirmed"
	case asked == nil:
		return "with a token that was not given to anybody"
	case asked.operation != a.operation || asked.id != a.id || asked.caller != a.caller:
		return "with the token of another request"
	case a.process.human && a.state == "":
		return "without a person's approval"
	case a.state != "" && !a.approved:
		return "although the person did not approve"
	case a.process.stdio && (asked.process.name != a.process.name || asked.life != a.life):
		return "with the token of another session"
	case a.state == "" && !a.began.Before(asked.got.expires):
		return "with a token that had expired before"
	}
	if slices.ContainsFunc(j.revoked[asked.caller], func(r *attempt) bool {
		return r.got.verdict == success && asked.end < r.start && r.end < a.start
	}) {
		return "with a token that was revoked before"
	}
	return ""
}

// answerOf judges what the answer to an attempt claims beyond that it ran.
func (j *judgement) answerOf(a *attempt) {
	asked := j.asked[a.token]
	ours := asked != nil && a.token != "" && asked.operation == a.operation && asked.id == a.id &&
		asked.caller == a.caller && !a.process.stdio && !a.process.human
	switch a.got.code {
	case "TOKEN_ALREADY_USED":
		others := slices.ContainsFunc(j.used[a.presents()], func(b *attempt) bool { return b != a && b.start < a.end })
		if !others {
			j.fault(a, "the token was presented for the first time")
		}
	case "TOKEN_EXPIRED":
		if asked != nil && a.ended.Before(asked.got.expires) {
			j.fault(a, "the token expires at %s", asked.got.expires)
		}
	case "TOKEN_INVALID", "TOKEN_SCOPE_MISMATCH":
		if ours && !slices.ContainsFunc(j.revoked[a.caller], func(r *attempt) bool { return r.start < a.end }) {
			j.fault(a, "the token is good")
		}
	case "RATE_LIMIT_QUOTA_EXHAUSTED":
		n := 0
		for _, start := range j.began[a.caller] {
			if start < a.end {
				n++
			}
		}
		if n <= j.limits.calls {
			j.fault(a, "the caller has made %d calls of %d", n, j.limits.calls)
		}
	}
}

// count judges the numbers of calls.
func (j *judgement) count(journal []entry) {
	calls, bells := make(map[string]int), 0
	for _, e := range journal {
		if e.Attempt != "" {
			calls[e.Caller]++
		}
		if e.Operation == "ring_bell" {
			bells++
		}
	}
	for _, caller := range slices.Sorted(maps.Keys(calls)) {
		if n := calls[caller]; n > j.limits.calls*j.limits.days {
			j.faults = append(j.faults, fmt.Sprintf("%s made %d calls, of %d a day", caller, n, j.limits.calls))
		}
	}
	if bells > j.limits.bells {
		j.faults = append(j.faults, fmt.Sprintf("the bell rang %d times, of %d", bells, j.limits.bells))
	}
}
