package chaos

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test finds what adapters do that break a promise.
func TestMutants(t *testing.T) {
	for mutant, want := range map[string]string{
		"runs unconfirmed":               "ran unconfirmed",
		"redeems twice":                  "ran 2 times for conf_",
		"forgets a revocation":           "ran with a token that was revoked before",
		"counts nothing":                 "calls, of 8 a day",
		"says done and runs nothing":     "the answer says that it ran, and it did not",
		"says refused and runs":          "the answer says that it did not run, and it ran",
		"lets every session use a token": "ran with the token of another session",
		"asks nobody":                    "ran without a person's approval",
		"accepts expired tokens":         "ran with a token that had expired before",
	} {
		t.Run(mutant, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, kinds[0], 1, mutant, bounds{calls: 8, bells: 60, lifetime: 500 * time.Millisecond})
			found := func() bool {
				return slices.ContainsFunc(w.faults, func(f string) bool { return strings.Contains(f, want) })
			}
			w.run(1, &planner{random: rand.New(rand.NewPCG(1, 0)), quiet: true}, func(int) bool {
				w.judge(false)
				return !found()
			})
			if !found() {
				t.Errorf("not found: %q", w.faults)
			}
		})
	}
}
