package console

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The longer a look takes, the more seldom there is one: nobody looks for more than a tenth of the time.
func TestSlowLooksAreSeldom(t *testing.T) {
	for took, most := range map[time.Duration]int{0: 101, time.Second: 10, 3 * time.Second: 4} {
		synctest.Test(t, func(t *testing.T) {
			var l latest[int]
			looks := 0
			for began := time.Now(); time.Since(began) <= 100*time.Second; time.Sleep(lookEvery) {
				if n, err := l.shared(t.Context(), func(context.Context) (int, error) {
					looks++
					time.Sleep(took)
					return looks, nil
				}); n != looks || err != nil {
					t.Fatalf("look %d is shown as %d, %v", looks, n, err)
				}
			}
			if looks < most-1 || looks > most {
				t.Errorf("in 100 seconds there were %d looks of %v each", looks, took)
			}
		})
	}
}

// A look ends after a time, and not with the page for which it was begun: others wait for it, too.
func TestLooksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed, stop := context.WithCancel(t.Context())
		stop()
		var l latest[error]
		began := time.Now()
		if err, _ := l.shared(closed, func(ctx context.Context) (error, error) {
			<-ctx.Done()
			return ctx.Err(), nil
		}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != longestLook {
			t.Errorf("the look ends after %v: %v", time.Since(began), err)
		}
	})
}
