package agents

import (
	"context"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/store"
)

// denialKnown is for how long it is known which executions have asked about an action: people may deny at the end of
// the time that they have, and a denial lasts as long again.
const denialKnown = 2 * stepLifetime

// asking is the beginning of the keys of the executions of the agent, also of those that have ended, which have asked
// about the action of the report.
func (j *judgement) asking() string {
	w := &j.report.Who
	return j.keeper.root + "d/" + digestOf(w.Caller.Key(), anonymous(w)) + "/" + digestOf(w.Agent, j.action) + "/"
}

// note has it known that the execution asks about the action, before it does. It fails with store.ErrConflict where
// another report was faster.
func (j *judgement) note(ctx context.Context) error {
	key, all := j.asking()+j.state.Execution, j.keeper.o.Store
	entries, err := all.List(ctx, key, "", 1) // unlike Get, it has an entry that does not open
	if err != nil {
		return fmt.Errorf("looking up what agents have asked: %w", err)
	}
	var version store.Version
	if len(entries) > 0 && entries[0].Key == key {
		version = entries[0].Version
	}
	if _, err := all.Put(ctx, key, []byte{form}, version, denialKnown); err != nil {
		return fmt.Errorf("keeping what an agent asks: %w", err)
	}
	return nil
}

// denied returns the item in which a person has denied the action to any execution of the agent, so that no new one
// goes around a denial; ID is empty: nobody has.
func (j *judgement) denied(ctx context.Context) (approve.Item, error) {
	const page = 100
	k, start := j.keeper, j.asking()
	for after := ""; ; {
		entries, err := k.o.Store.List(ctx, start, after, page)
		if err != nil {
			return approve.Item{}, fmt.Errorf("looking up what agents have asked: %w", err)
		}
		for _, entry := range entries {
			after = entry.Key
			b := j.binding(strings.TrimPrefix(entry.Key, start), loop.ApprovedAction)
			item, err := k.o.Inbox.Find(ctx, j.question(b))
			if err != nil {
				return approve.Item{}, fmt.Errorf("looking up what people have denied: %w", err)
			}
			if item.ID != "" && item.StateAt(k.now()) == approve.Denied {
				return item, nil
			}
		}
		if len(entries) < page {
			return approve.Item{}, nil
		}
	}
}
