package aql

import (
	"context"
	"errors"
	"fmt"
)

// verdict is what the error of a handler means. To find out takes the methods of the error and Options.MapError, which
// are the author's code; what follows needs them no more.
type verdict struct {
	err       error       // as the log has it; nil: there was none
	failure   *Error      // for the agent; nil: it learns nothing of the error
	crash     *panicError // nil: nothing panicked
	cancelled bool        // the error says that the request was cancelled
}

// judge returns what an error means. It survives methods of the error that panic.
func (r *run) judge(ctx context.Context, err error) (v verdict) {
	defer func() {
		if value := recover(); value != nil {
			crash := newPanicError(value)
			v = verdict{err: crash, crash: crash}
		}
	}()
	err = tame(err)
	var crash *panicError
	if errors.As(err, &crash) {
		return verdict{err: err, crash: crash}
	}
	if known := (*Error)(nil); !errors.As(err, &known) {
		err = tame(r.mapped(ctx, err))
	}
	if errors.As(err, &crash) {
		return verdict{err: err, crash: crash}
	}
	v.err = err
	f, known := asFailure(err)
	if !known || !f.Code.Valid() {
		v.cancelled = errors.Is(err, context.Canceled)
	}
	if !known {
		return v
	}
	v.failure = f
	if problem := wild(f.cause); problem != nil {
		v.failure = f.WithCause(problem)
	}
	return v
}

// longestChain is how many errors an error may wrap.
const longestChain = 1000

// tame returns an error that can be looked at: err, unless its text panics or it wraps errors without end, as one that
// wraps itself.
func tame(err error) error {
	left := longestChain
	if !ends(err, &left) {
		return fmt.Errorf("an error of type %T wraps more than %d errors", err, longestChain)
	}
	_ = err.Error() // a panic is the caller's
	return err
}

// wild returns what is wrong with an error that cannot be looked at; nil: it can be.
func wild(err error) (problem error) {
	if err == nil {
		return nil
	}
	defer func() {
		if value := recover(); value != nil {
			problem = newPanicError(value)
		}
	}()
	left := longestChain
	if !ends(err, &left) {
		return tame(err)
	}
	_ = err.Error()
	return nil
}

// ends reports whether err and what it wraps are no more errors than these.
func ends(err error, left *int) bool {
	for err != nil {
		if *left--; *left < 0 {
			return false
		}
		switch wrapper := err.(type) { //nolint:errorlint // the chain is being followed
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range wrapper.Unwrap() {
				if !ends(inner, left) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}
