package serve

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// resources are what was opened for an adapter, in that order.
type resources []io.Closer

type closing func() error

func (c closing) Close() error { return c() }

// closeWithin closes everything, the last one first. One that does not end has its share of the time, so that the
// others are closed all the same.
func (o resources) closeWithin(timeout time.Duration) error {
	var failures []error
	for i, deadline := len(o)-1, time.Now().Add(timeout); i >= 0; i-- {
		share := time.Until(deadline) / time.Duration(i+1)
		err := errors.New("it ended its goroutine")
		if within(share, func() { err = closeOne(o[i]) }) {
			failures = append(failures, err)
		} else {
			failures = append(failures, fmt.Errorf("it did not end within %s", share.Round(time.Millisecond)))
		}
	}
	return errors.Join(failures...)
}

// closeOne closes a resource. Its panic is an error.
func closeOne(c io.Closer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
	}()
	return c.Close()
}

// within calls a function and reports whether it ended in time. What the function writes may be read only then.
func within(timeout time.Duration, call func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		call()
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}
