package agents_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/agents"
	"github.com/aqltag/aqltag/runtime/store"
)

// rivals is a store in which others are faster at changing what is kept of agents, as often as there are wins left.
type rivals struct {
	store.Store
	wins int
}

func (s *rivals) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if strings.HasPrefix(key, "loop/shop/s/") && old != 0 && s.wins > 0 {
		s.wins--
		entry, err := s.Get(ctx, key)
		if err == nil {
			_, err = s.Store.Put(ctx, key, entry.Value, entry.Version, ttl)
		}
		if err != nil {
			return 0, err
		}
	}
	return s.Store.Put(ctx, key, value, old, ttl)
}

// A report goes on trying while others are faster, and gives up where they always are.
func TestReportsGetTheirTurn(t *testing.T) {
	for name, test := range map[string]struct {
		wins int
		want error
	}{
		"nine others": {9, nil},
		"always":      {1000, agents.ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &rivals{Store: new(store.Memory)}
				k, _ := keeper(t, s)
				start(t, k, ann)
				s.wins = test.wins
				d, err := k.Report(t.Context(), agents.Report{Who: ann, Hint: "read x"})
				if !errors.Is(err, test.want) || err == nil && !d.Continue {
					t.Errorf("it is told %+v, %v, want %v", d, err, test.want)
				}
			})
		})
	}
}

// A report that nobody waits for any more stops trying.
func TestReportsStopTrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rivals{Store: new(store.Memory)}
		k, _ := keeper(t, s)
		start(t, k, ann)
		s.wins = 1000
		gone := errors.New("the client has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		// The clock goes on only while the report waits for its turn.
		time.AfterFunc(time.Nanosecond, func() { cancel(gone) })
		if _, err := k.Report(ctx, agents.Report{Who: ann, Hint: "read x"}); !errors.Is(err, gone) {
			t.Errorf("it fails with %v", err)
		}
	})
}
