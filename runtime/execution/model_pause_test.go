package execution_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
)

// pause is what an execution of the model waits for, or has waited for.
type pause struct {
	from   execution.From
	name   string
	answer atomic.Value // a string; nil: there is none
}

func (w *world) pausesOf(id string) []*pause {
	all, _ := w.paused.Load(id)
	list, _ := all.([]*pause)
	return list
}

func (w *world) lastPause(id string) *pause {
	all := w.pausesOf(id)
	return all[len(all)-1]
}

// pause makes an execution wait for something new.
func (w *world) pause(id, what string) *pause {
	all := w.pausesOf(id)
	p := &pause{from: execution.FromPerson, name: fmt.Sprint(what, " ", len(all))}
	if what != "ask" {
		p.from = execution.FromCaller
	}
	w.paused.Store(id, append(all, p))
	return p
}

func (p *pause) await(ctx context.Context, run *execution.Run) ([]byte, error) {
	return run.Await(ctx, p.from, p.name,
		func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
			return nil, execution.Waiting{Until: time.Now().Add(1000 * time.Hour)}, nil
		})
}

// decided returns what a person has decided about the question of an execution.
func (w *world) decided(_ context.Context, r *execution.Record) ([]byte, error) {
	if answer, ok := w.lastPause(r.ID).answer.Load().(string); ok {
		return []byte(answer), nil
	}
	return nil, nil
}
