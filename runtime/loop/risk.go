package loop

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Risk is the risk of the actions that a pattern finds.
type Risk struct {
	Pattern Pattern
	Score   int // from 0 to 100
}

// Baseline returns the risk of an operation by its danger level (MCP-AQL danger levels §8.1).
func Baseline(level gen.Danger) int {
	switch level {
	case gen.Safe:
		return 0
	case gen.Reversible:
		return 25
	case gen.Destructive:
		return 50
	case gen.Dangerous:
		return 75
	}
	return highest // forbidden, and what does not exist
}

// Operations returns the risks of operations by their names, for Config.
func Operations(operations []gen.Operation) map[string]int {
	risks := make(map[string]int, len(operations))
	for i := range operations {
		risks[strings.ToLower(operations[i].Name)] = Baseline(operations[i].Danger)
	}
	return risks
}

const (
	highest = 95
	most    = 100
	// unknownRisk is the risk of an action of which nothing is known.
	unknownRisk = 10
	// destructiveRisk is from which risk on a pattern counts as that of a destructive verb.
	destructiveRisk = 45
)

// What makes an action riskier than it is alone.
const (
	repeatedRisk = 15 // the same action three times in ten steps
	repeatedIn   = 10
	repeatedFrom = 3
	spreadRisk   = 25 // ten things of one destructive verb in a minute (MCP-AQL danger levels §8.2)
	spreadFrom   = 10
	spreadIn     = time.Minute
	hiddenRisk   = 40 // characters that nobody sees
	foreignRisk  = 40 // words in letters that no pattern has, which may look like those of one
	mixedRisk    = 60 // a word of letters of two scripts
)

// TierOf returns the tier of a risk.
func TierOf(score int) Tier {
	switch {
	case score <= 30:
		return Advisory
	case score <= 60:
		return Confirm
	case score <= 85:
		return Verify
	}
	return DangerZone
}

// score returns the risk of an action, what it goes by, and the pattern of its destructive verb.
func (c *Config) score(t *text, r *Report, h *History, digest string) (risk int, why, verb string) {
	risk, why = unknownRisk, "nothing is known of it"
	raise := func(to int, format string, args ...any) {
		if to > risk {
			risk, why = to, fmt.Sprintf(format, args...)
		}
	}
	known := false
	operation := func(word string) {
		if score, ok := c.Operations[word]; ok {
			if !known {
				risk, why, known = score, "operation "+word, true
			}
			raise(score, "operation %s", word)
		}
	}
	words(t.plain, operation)
	words(t.plainGaps, operation)
	for i := range t.unescaped {
		words(t.unescaped[i].plain, operation)
		words(t.unescaped[i].plainGaps, operation)
	}
	risks := c.risks()
	worst := 0
	for i := range risks {
		k := &risks[i]
		destructive := k.Score >= destructiveRisk && k.Score > worst
		if k.Score <= risk && !destructive || !k.Pattern.anywhere(t) {
			continue
		}
		raise(k.Score, "'%s'", &k.Pattern)
		if destructive {
			worst, verb = k.Score, k.Pattern.written
		}
	}
	if t.odd {
		raise(hiddenRisk, "characters that nobody sees")
	}
	if script := c.foreign(t); script != "" {
		raise(foreignRisk, "words that no pattern can match")
	}
	if t.mixed {
		raise(mixedRisk, "a word of letters of two scripts")
	}
	if r.Scored != 0 {
		raise(bounded(float64(r.Scored)), "the service's own score")
	}
	if r.Claimed != nil {
		raise(bounded(*r.Claimed), "the client's own score")
	}
	if repeated(h.Recent, digest) {
		risk, why = min(risk+repeatedRisk, most), why+", repeated"
	}
	if spread(h.Recent, verb, digest, r.At) {
		risk, why = min(risk+spreadRisk, most), why+", of many things at once"
	}
	return risk, why, verb
}

func (c *Config) risks() []Risk {
	if c.Risks == nil {
		return standard()
	}
	return c.Risks
}

// foreign returns a script of words of a hint that no pattern has which denies, demands an approval, or says what is
// risky; empty: there is none, or no pattern denies or demands anything. Whole words can be written in letters of some
// scripts that look like those of Latin.
func (c *Config) foreign(t *text) string {
	if len(c.Deny)+len(c.RequiresApproval) == 0 {
		return ""
	}
	has := func(script string) bool {
		of := func(p Pattern) bool { return slices.Contains(p.scripts, script) }
		return slices.ContainsFunc(c.Deny, of) || slices.ContainsFunc(c.RequiresApproval, of) ||
			slices.ContainsFunc(c.risks(), func(r Risk) bool { return of(r.Pattern) })
	}
	for _, script := range t.scripts {
		if !has(script) {
			return script
		}
	}
	return ""
}

// bounded is a risk that somebody gives: what is none is the highest.
func bounded(score float64) int {
	if math.IsNaN(score) || score < 0 || score > most {
		return most
	}
	return int(math.Ceil(score))
}

// repeated reports whether an action was reported so often lately that the agent may go in circles.
func repeated(recent []Action, digest string) bool {
	count := 1
	for _, a := range recent[max(len(recent)-repeatedIn+1, 0):] {
		if a.Digest == digest {
			count++
		}
	}
	return count >= repeatedFrom
}

// spread reports whether a destructive verb was lately reported of many things.
func spread(recent []Action, verb, digest string, now time.Time) bool {
	if verb == "" {
		return false
	}
	things := map[string]bool{digest: true}
	for _, a := range recent {
		if a.Verb == verb && now.Sub(a.At) < spreadIn {
			things[a.Digest] = true
		}
	}
	return len(things) >= spreadFrom
}
