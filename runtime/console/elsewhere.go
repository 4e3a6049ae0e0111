package console

import (
	"context"
	"errors"
)

// publishCalls has the console of another process show what this one is asked for, until end is called or ctx ends.
func publishCalls(ctx context.Context, o Options) (end func(), err error) {
	if o.Store == nil {
		return nil, errors.New("the console of another process sees calls in the state, and there is none")
	}
	f := newFeed(o)
	if f == nil { // nobody sees its calls
		return func() {}, nil
	}
	return until(ctx, f.run), nil
}
