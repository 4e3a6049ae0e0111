package execution

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Parameters and a result that are small are in the record. Larger ones are entries of their own beside the steps, so
// that neither who lists executions nor who changes a record reads or writes them. The record decides: an entry counts
// where the record says that it is there.
//
// Each is written before the record that says so. A start that ends between the two leaves parameters without a record:
// whoever removes them buries the execution first, so that a start which was only slow fails. An attempt that ends
// between the two leaves a result that no record names. The results of two attempts have two names, so that a lost one
// does not replace the one that counts. A result expires from the beginning, a little after the record does.
// Where the process was suspended between the two, it writes the result again.
const (
	paramsEntry  = "params"
	resultPrefix = "result-"
	// largestInside is how many bytes may be in the record.
	largestInside = 1 << 10
	// resultSlack is how much longer a result is kept than the record that is written after it.
	resultSlack = 6 * storeTimeout
)

// isAside reports whether an entry beside the steps is none of them.
func isAside(key string) bool {
	name := lastOf(key)
	return name == paramsEntry || strings.HasPrefix(name, resultPrefix)
}

func (e *Engine) asideKey(id, name string) string { return e.root + stepPart + id + "/" + name }

// keepParams puts parameters into a record that is to be made, or beside it.
func (e *Engine) keepParams(ctx context.Context, r *Record, params []byte) error {
	sealed := e.seal(r, paramsEntry, params)
	if len(sealed) <= largestInside {
		r.Params = sealed
		return nil
	}
	r.ParamsAside = true
	return e.put(ctx, e.asideKey(r.ID, paramsEntry), sealed, 0)
}

// keepResult writes a result that is too large for the record, and returns what the record is to have of it: the
// result, or its name.
func (r *Run) keepResult(ctx context.Context, result []byte) (inside []byte, name string, err error) {
	e := r.engine
	if result == nil {
		return nil, "", nil
	}
	if len(result) <= largestInside {
		return e.seal(r.begun, "result", result), "", nil
	}
	name = resultPrefix + strconv.Itoa(r.attempt)
	sealed, ttl := e.seal(r.begun, name, result), e.keep(r.begun)+resultSlack
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := e.put(ctx, e.asideKey(r.ID(), name), sealed, ttl)
		if err == nil {
			return nil, name, nil
		}
		if sleep(ctx, pause) != nil || errors.Is(r.Stopped(), ErrLost) {
			return nil, "", err
		}
	}
}

// keepResultAgain makes a result last as long as its record, where that was written long after the result was first.
func (r *Run) keepResultAgain(name string, result []byte, since time.Time) error {
	e := r.engine
	if name == "" || e.now().Round(0).Sub(since) < resultSlack/2 { // by a clock that goes on in a suspended process
		return nil
	}
	ctx, done := context.WithTimeout(context.Background(), storeTimeout)
	defer done()
	return e.renew(ctx, e.asideKey(r.ID(), name), e.seal(r.begun, name, result), e.keep(r.begun)+resultSlack)
}

// aside returns what is beside a record.
func (e *Engine) aside(ctx context.Context, r *Record, name string) ([]byte, error) {
	entry, err := e.o.Store.Get(ctx, e.asideKey(r.ID, name))
	if err != nil {
		return nil, fmt.Errorf("reading %s of execution %s: %w", name, r.ID, err)
	}
	if !entry.Exists() {
		return nil, fmt.Errorf("reading %s of execution %s: %w", name, r.ID, errGone)
	}
	return e.open(r, name, entry.Value)
}

// errGone says that the store does not have what a record says.
var errGone = errors.New("the store does not have it any more")

// Params returns the parameters of an execution that is not attached.
func (e *Engine) Params(ctx context.Context, r *Record) ([]byte, error) {
	if r.ParamsAside {
		return e.aside(ctx, r, paramsEntry)
	}
	return e.open(r, paramsEntry, r.Params)
}

// Result returns what a completed execution has come to.
func (e *Engine) Result(ctx context.Context, r *Record) ([]byte, error) {
	if r.ResultAside != "" {
		return e.aside(ctx, r, r.ResultAside)
	}
	return e.open(r, "result", r.Result)
}
