package trust_test

import (
	"fmt"
	"log"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/trust"
)

// An adapter is promoted one level at a time, and may do more with each.
func ExampleStanding_Promote() {
	standing := trust.Standing{Level: trust.Untested}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, level := range []trust.Level{trust.Generated, trust.Validated, trust.CommunityReviewed} {
		var err error
		if standing, err = standing.Promote(level, at, "ann"); err != nil {
			log.Fatal(err)
		}
		fmt.Println(standing.Level, "may delete:", trust.Gating(gen.Destructive, standing.Level))
	}
	// Output:
	// generated may delete: deny
	// validated may delete: confirm
	// community_reviewed may delete: allow
}
