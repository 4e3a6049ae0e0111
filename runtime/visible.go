package aql

import (
	"container/list"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// sights are the views of callers, who see only what they may call: see Options.HideDenied. A view is rendered when a
// caller needs it, and callers who see the same share one.
type sights struct {
	adapter *Adapter
	whole   *view
	nothing *view // of a caller who may call nothing
	// promoted are the fields that structs have from those which they embed: see codec.Promoted.
	promoted map[string][]string

	mu      sync.Mutex
	callers map[string]string        // callers to the sets of what they see
	sets    map[string]*list.Element // of sight, by its set
	recent  *list.List               // of sight, the most recent first
}

// Bounds of what the views of callers take in memory.
const (
	maxCallers = 4096 // whose sets are known
	maxSights  = 32   // views
)

// sight is the view of the callers who see a set of operations.
type sight struct {
	set  string
	once sync.Once
	view *view
}

func (a *Adapter) newSights(whole *view, promoted map[string][]string) (*sights, error) {
	s := &sights{
		adapter: a, whole: whole, promoted: promoted,
		callers: make(map[string]string), sets: make(map[string]*list.Element), recent: list.New(),
	}
	var err error
	s.nothing, err = s.narrow(strings.Repeat("-", len(a.definitions.Operations)))
	return s, err
}

// of returns what a caller sees.
func (s *sights) of(ctx context.Context) *view {
	sight := s.find(CallerOf(ctx))
	sight.once.Do(func() {
		sight.view = s.nothing // also after a panic
		view, err := s.narrow(sight.set)
		if err != nil {
			s.adapter.log.LogAttrs(ctx, slog.LevelError, "what a caller may see cannot be rendered", slog.Any("error", err))
			return
		}
		sight.view = view
	})
	return sight.view
}

// find returns the sight of a caller.
func (s *sights) find(caller Caller) *sight {
	key := sightKey(caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	set, known := s.callers[key]
	if !known {
		set = s.set(caller)
		if len(s.callers) >= maxCallers {
			clear(s.callers)
		}
		s.callers[key] = set
	}
	if element, ok := s.sets[set]; ok {
		s.recent.MoveToFront(element)
		return element.Value.(*sight)
	}
	if s.recent.Len() >= maxSights {
		delete(s.sets, s.recent.Remove(s.recent.Back()).(*sight).set)
	}
	found := &sight{set: set}
	s.sets[set] = s.recent.PushFront(found)
	return found
}

// sightKey identifies what rules may look at of a caller.
func sightKey(c Caller) string {
	key := strconv.Quote(c.Issuer) + strconv.Quote(c.Subject)
	for _, scope := range slices.Sorted(slices.Values(c.Scopes)) {
		key += strconv.Quote(scope)
	}
	return key
}

// set returns what a caller sees as a text: one character for each operation, and the fields that he does not.
func (s *sights) set(caller Caller) string {
	operations := s.adapter.definitions.Operations
	set := make([]byte, len(operations))
	for i := range operations {
		set[i] = '-'
		if !s.adapter.options.HideDenied || s.whole.gate.Operation(operations[i].Name).MayRun(caller) {
			set[i] = '+'
		}
	}
	if s.whole.policy == nil {
		return string(set)
	}
	return string(set) + strings.Join(withPromoted(s.whole.policy.Hidden(caller), s.promoted), " ")
}

// narrow returns a view of a set.
func (s *sights) narrow(set string) (*view, error) {
	a := s.adapter
	visible := make(map[string]bool, len(a.definitions.Operations))
	reads := true
	for i := range a.definitions.Operations {
		o := &a.definitions.Operations[i]
		if visible[o.Name] = set[i] == '+'; visible[o.Name] {
			reads = reads && o.Category == gen.Read
		}
	}
	hidden := fieldsHidden(set[len(a.definitions.Operations):])
	definitions := a.definitions
	hidden.leaveOutOfRelations(&definitions) // while those are there that the caller does not see for other reasons
	definitions = definitions.Only(func(o *gen.Operation) bool { return visible[o.Name] })
	hidden.leaveOut(&definitions)
	hidden.addRelations(&a.definitions, &definitions)
	hidden.leaveOutOfExamples(&definitions)
	surface := a.surface
	if a.options.HideDenied {
		surface.OmitEmptyFamilies, surface.ReadOnly = true, surface.ReadOnly || reads
	}
	v := &view{whole: s.whole, gate: s.whole.gate, definitions: &definitions}
	if err := a.render(v, surface); err != nil {
		return nil, err
	}
	for _, o := range a.surface.BuiltIns(&a.definitions) {
		v.directory.operations[o.Name] = s.whole.directory.operations[o.Name]
	}
	mask := hidden.mask()
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		whole := s.whole.directory.operations[o.Name]
		newCall := hidden.newCall(a.handlers[o.Name], mask)
		if newCall != nil || o.Relationships != nil || o.Replacement != whole.definition.Replacement ||
			o.Deprecated != whole.definition.Deprecated {
			if newCall == nil {
				newCall = whole.newCall
			}
			whole = whole.seenAs(o, a, newCall)
		}
		v.directory.operations[o.Name] = whole
	}
	return v, nil
}

// seenAs returns an operation as the callers see it whom o describes. Its parameters keep their places, by which they
// are known, but those that o does not have are named nowhere.
func (whole *operation) seenAs(o *gen.Operation, a *Adapter, newCall func(*slots) call) *operation {
	seen := *o
	seen.Params = slices.Clone(whole.definition.Params)
	unseen := make(map[string]bool)
	for i := range seen.Params {
		p := &seen.Params[i]
		at := slices.IndexFunc(o.Params, func(left gen.Param) bool { return left.Name == p.Name })
		if unseen[p.Name] = at < 0; at >= 0 {
			*p = o.Params[at]
		}
	}
	narrowed := newOperation(seen, a.types, &a.surface, newCall, whole.gate)
	narrowed.params = slices.DeleteFunc(narrowed.params, func(name string) bool { return unseen[name] })
	return narrowed
}

// seenBy returns what the caller that ctx has sees of the view.
func (v *view) seenBy(ctx context.Context) *view {
	if v.sights == nil {
		return v
	}
	return v.sights.of(ctx)
}

// HidesDenied reports whether callers see only what they may call: see Options.HideDenied.
func (a *Adapter) HidesDenied() bool { return a.options.HideDenied }

// ManifestFor returns the manifest of what the caller of ctx sees: see Manifest and Options.HideDenied.
func (a *Adapter) ManifestFor(ctx context.Context) ([]byte, error) {
	return a.view.Load().seenBy(ctx).declaration()
}

// ReferenceFor returns a page in Markdown about the operations that the caller of ctx sees, with their parameters,
// examples and failures: see Options.HideDenied.
func (a *Adapter) ReferenceFor(ctx context.Context) ([]byte, error) {
	return a.view.Load().seenBy(ctx).reference()
}

// ToolsFor returns the MCP tools that the caller of ctx sees: see Options.HideDenied. Without it these are all.
func (a *Adapter) ToolsFor(ctx context.Context) []describe.Tool {
	return a.view.Load().seenBy(ctx).tools
}
