package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/gen"
	"golang.org/x/sync/semaphore"
)

// groupingRequests is how many requests with as many grouped summaries as are allowed run at the same time.
const groupingRequests = 8

// groupings bounds the summaries with groups that are made at the same time, from the handler to the written result. A
// request of a kilobyte may ask for ten thousand groups, which take megabytes: what they hold is bounded with it,
// whatever the number of requests. Those without groups never wait.
type groupings struct {
	places *semaphore.Weighted // nil: any number is made
}

func newGroupings() groupings {
	return groupings{semaphore.NewWeighted(groupingRequests * gen.MaxSummaries)}
}

// enter waits until so many summaries may be made. Unless it returns an error, which is that of ctx, leave has to be
// called with the same number.
func (g *groupings) enter(ctx context.Context, summaries int) error {
	if g.places == nil || summaries == 0 {
		return nil
	}
	return g.places.Acquire(ctx, int64(summaries))
}

func (g *groupings) leave(summaries int) {
	if g.places != nil && summaries > 0 {
		g.places.Release(int64(summaries))
	}
}
