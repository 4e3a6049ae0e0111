package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/store"
)

// form is the first byte of a state in the store.
const form = '1'

var errDamaged = errors.New("what is kept of an agent is damaged in the store, or was written by a later version")

const (
	// mostRecent is how many actions of an agent are remembered.
	mostRecent = 20
	// forgotten is how long a state stays of which nothing is heard. Its execution has failed before.
	forgotten = 48 * time.Hour
)

// state is what the store has of an execution of an agent, besides the record of package execution.
type state struct {
	Execution string `json:"execution"`
	// Approved says that a person has approved of the start, as modes that ask demand of all agents that report in them.
	Approved bool `json:"approved,omitempty"`
	MaxSteps int  `json:"max_steps,omitempty"` // that it was started with; zero: as many as the loop allows
	Steps    int  `json:"steps"`               // that were let go on
	// Before is how many of them were before the counter began anew.
	Before int           `json:"before,omitempty"`
	Recent []loop.Action `json:"recent,omitempty"`
	Paused *pause        `json:"paused,omitempty"`
	// Failed says that the step before has failed, and no person has let the agent go on yet.
	Failed    bool       `json:"failed,omitempty"`
	Decisions []decision `json:"decisions,omitempty"` // that were not used yet
	Answer    *answer    `json:"answer,omitempty"`
	// Read and ReadOwn are up to where notifications were delivered, of all agents and of those of the caller.
	Read    uint64 `json:"read"`
	ReadOwn uint64 `json:"read_own"`

	key     string
	version store.Version
}

// pause is a question that a person has not answered yet.
type pause struct {
	Binding approve.Binding `json:"binding"`
	Why     string          `json:"why"`
	Item    string          `json:"item"`
}

// digestOf is a digest of texts, which are kept apart.
func digestOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// statesOf is the beginning of the keys of the executions of a caller, or of an agent.
func (k *Keeper) statesOf(w *Who, ofAgent bool) string {
	start := k.root + "s/" + digestOf(w.Caller.Key(), anonymous(w)) + "/"
	if ofAgent {
		start += digestOf(w.Agent) + "/"
	}
	return start
}

// anonymous tells anonymous callers apart.
func anonymous(w *Who) string {
	if w.Caller.Anonymous() {
		return w.Session
	}
	return ""
}

func parse(entry store.Entry) (*state, error) {
	s := &state{key: entry.Key, version: entry.Version}
	text, ok := strings.CutPrefix(string(entry.Value), string(form))
	if !ok || json.Unmarshal([]byte(text), s) != nil || !strings.HasSuffix(entry.Key, "/"+s.Execution) {
		return nil, errDamaged
	}
	return s, nil
}

func (k *Keeper) put(ctx context.Context, s *state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding what is kept of an agent: %w", err)
	}
	version, err := k.o.Store.Put(ctx, s.key, append([]byte{form}, text...), s.version, forgotten)
	if err != nil {
		return fmt.Errorf("keeping the state of an agent: %w", err)
	}
	s.version = version
	return nil
}

// find returns the execution of an agent that a request is about. An execution that has ended, or was never one of the
// agent, fails as package execution has it.
func (k *Keeper) find(ctx context.Context, w *Who) (*state, error) {
	if w.Execution != "" {
		if _, err := k.o.Engine.Get(ctx, w.Caller.Key(), w.Execution); err != nil {
			return nil, err
		}
		entry, err := k.o.Store.Get(ctx, k.statesOf(w, true)+w.Execution)
		switch {
		case err != nil:
			return nil, fmt.Errorf("looking up an agent: %w", err)
		case !entry.Exists():
			r, err := k.o.Engine.Get(ctx, w.Caller.Key(), w.Execution)
			if err == nil && r.State.Terminal() {
				return nil, &execution.StateError{Record: r}
			}
			return nil, execution.ErrNotFound // it is one of another agent
		}
		return k.running(ctx, w, entry)
	}
	entries, err := k.o.Store.List(ctx, k.statesOf(w, true), "", 100)
	if err != nil {
		return nil, fmt.Errorf("looking up an agent: %w", err)
	}
	var found *state
	for _, entry := range entries {
		s, err := k.running(ctx, w, entry)
		var ended *execution.StateError
		switch {
		case errors.As(err, &ended), errors.Is(err, execution.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case found != nil:
			return nil, ErrSeveral
		}
		found = s
	}
	if found == nil {
		return nil, ErrNone
	}
	return found, nil
}

// running returns the state of an entry, if its execution runs, and removes it otherwise, also where it cannot be read.
func (k *Keeper) running(ctx context.Context, w *Who, entry store.Entry) (*state, error) {
	s, unread := parse(entry)
	if unread != nil {
		s = &state{key: entry.Key, version: entry.Version, Execution: entry.Key[strings.LastIndexByte(entry.Key, '/')+1:]}
	}
	r, err := k.o.Engine.Get(ctx, w.Caller.Key(), s.Execution)
	switch {
	case err == nil && unread != nil && !r.State.Terminal():
		return nil, unread
	case err == nil && r.State.Terminal():
		k.forget(ctx, s)
		return nil, &execution.StateError{Record: r}
	case errors.Is(err, execution.ErrNotFound):
		k.forget(ctx, s)
	}
	return s, err
}

// forget removes the state of an execution that has ended. One that stays expires.
func (k *Keeper) forget(ctx context.Context, s *state) { _ = k.o.Store.Delete(ctx, s.key, s.version) }
