package serve

import (
	"context"
	"time"
)

// draining returns for how long the adapter serves as before once it is to end, while /readyz says that it will. On
// stdio nobody sends calls elsewhere meanwhile.
func (s settings) draining(options *Options) time.Duration {
	if s.given["drain"] {
		options.Drain = s.drain
	}
	if s.transport != "http" {
		return 0
	}
	return max(options.Drain, 0)
}

// later returns a context that ends a while after ctx has.
func later(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	if while <= 0 {
		return context.WithCancel(ctx)
	}
	late, stop := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		timer := time.NewTimer(while)
		defer timer.Stop()
		select {
		case <-late.Done():
		case <-timer.C:
			stop()
		}
	})
	return late, stop
}
