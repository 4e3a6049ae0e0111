package execution

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/store"
)

// ListAll returns executions of all callers, for people who look after an adapter. CallerKey of the query does not
// count. Of all executions it reads the entries, and of the records those of the page: what is looked at at most is
// what List looks at.
func (e *Engine) ListAll(ctx context.Context, q Query) (*Page, error) {
	var places []string // <time, newest first>/<id>
	err := e.each(ctx, e.root+ownerPart, func(entry store.Entry) bool {
		_, place, ok := strings.Cut(entry.Key[len(e.root+ownerPart):], "/")
		if ok && place > q.After && !q.leavesOut(entry) {
			places = append(places, place)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(places)
	page := &Page{}
	for i, place := range places {
		if len(page.Records) == q.First || i == mostLooked {
			page.More = true
			return page, nil
		}
		page.End = place
		r, err := e.Look(ctx, lastOf(place))
		switch {
		case errors.Is(err, errFormat), errors.Is(err, ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case q.State != "" && r.State != q.State, q.Operation != "" && r.Operation != q.Operation:
			continue
		}
		if len(page.Records) == 0 {
			page.Start = place
		}
		page.Records = append(page.Records, r)
	}
	return page, nil
}

// Look returns an execution, whoever's it is.
func (e *Engine) Look(ctx context.Context, id string) (*Record, error) {
	if len(id) > longestID {
		return nil, ErrNotFound
	}
	r, err := e.read(ctx, id)
	if err == nil && r != nil && !r.Buried {
		r, err = e.heard(ctx, r)
	}
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.Buried:
		return nil, ErrNotFound
	}
	return r, nil
}

// StepsDone counts the steps of an execution that have returned something. They are kept as long as it can go on.
func (e *Engine) StepsDone(ctx context.Context, id string) (steps int, err error) {
	err = e.each(ctx, e.root+stepPart+id+"/", func(entry store.Entry) bool {
		if !isAside(entry.Key) {
			steps++
		}
		return true
	})
	return steps, err
}
