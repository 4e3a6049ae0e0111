package describe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Introspection answers introspect (MCP-AQL introspection §2.3). Each answer is a complete response as one line of
// JSON, rendered when it is asked for first. The methods return shared bytes, which callers must not change. It is safe
// for concurrent use.
type Introspection struct {
	operations answer
	operation  map[string]*answer // by name
	types      answer
	typ        map[string]*answer // by name
	overview   answer
	finder     finder
	selector   selector
}

// answer is a response that is rendered once.
type answer struct {
	once sync.Once
	data func() any // nil when text is there
	text []byte
}

func (a *answer) bytes() []byte {
	a.once.Do(func() {
		a.text, a.data = render(success{Success: true, Data: a.data()}), nil
	})
	return a.text
}

// Operations returns the _protocol metadata and all operations, the built-in ones first (MCP-AQL introspection §4.1).
func (i *Introspection) Operations() []byte { return i.operations.bytes() }

// Overview returns the answer to the query "operations" where nothing narrows it: Operations or, of more than
// MostListed, a summary.
func (i *Introspection) Overview() []byte {
	if len(i.selector.operations) <= MostListed {
		return i.Operations()
	}
	return i.overview.bytes()
}

// Types returns the answer to the query "types": the types of the protocol and then those of the adapter (MCP-AQL
// introspection §5.1).
func (i *Introspection) Types() []byte { return i.types.bytes() }

var (
	noOperation = []byte(`{"success":true,"data":{"operation":null}}`)
	noType      = []byte(`{"success":true,"data":{"type":null}}`)
)

// Operation returns the answer to the query "operations" with a name. For an unknown name this is null, not an error
// (MCP-AQL introspection §4.3).
func (i *Introspection) Operation(name string) []byte {
	if answer, ok := i.operation[name]; ok {
		return answer.bytes()
	}
	return noOperation
}

// Type returns the answer to the query "types" with a name. For an unknown name this is null.
func (i *Introspection) Type(name string) []byte {
	if answer, ok := i.typ[name]; ok {
		return answer.bytes()
	}
	return noType
}

// Introspect prepares the answers of introspect for an adapter, whose definitions must not change afterwards. The error
// lists everything that is wrong: a surface that is not valid, two operations or two types of one name, an unknown
// category, and defaults, bounds and examples that are not JSON.
func Introspect(a *gen.Definitions, s Surface, p Protocol) (*Introspection, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := checkOperations(a, s); err != nil {
		return nil, err
	}
	operations, types := s.everyOperation(a, p.Queries...), s.allTypes(a)
	in := &Introspection{
		operation: make(map[string]*answer, len(operations)), typ: make(map[string]*answer, len(types)),
	}
	in.finder = finder{make(map[string]*gen.Operation), make(map[string]*gen.Type)}
	in.operations.data = func() any { return listOf(operations, p.info(a, s), s, p) }
	in.overview.data = func() any { return overviewOf(operations, p.info(a, s), s, p) }
	in.selector = newSelector(operations, types, s, p)
	in.types.data = func() any { return map[string]any{"types": typeInfos(types)} }
	var faults []error
	answers := make([]answer, len(operations)+len(types))
	for i, o := range operations {
		faults = append(faults, checkOperationJSON(o))
		answers[i].data = func() any {
			details := detailsOf(a, o, s, p.gating(o))
			details.Computed = computedInfos(a.ComputedOf(o))
			if ShowsFields(a) && in.finder.large(o) {
				details.Description = sentences(details.Description, fieldsNote)
			}
			return map[string]any{"operation": details}
		}
		in.operation[o.Name], in.finder.operations[o.Name] = &answers[i], o
	}
	for i := range types {
		t := &types[i]
		if _, taken := in.typ[t.Name]; taken {
			faults = append(faults, fmt.Errorf("two types are called %q; names of protocol types cannot be used", t.Name))
		}
		faults = append(faults, checkTypeJSON(t))
		at := &answers[len(operations)+i]
		at.data = func() any { return map[string]any{"type": typeDetailsOf(t)} }
		in.typ[t.Name], in.finder.types[t.Name] = at, t
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return in, nil
}

// checkOperations returns an error for operations of one name and for those without an endpoint family.
func checkOperations(a *gen.Definitions, s Surface) error {
	var faults []error
	seen := make(map[string]bool)
	for i := range a.Operations {
		o := &a.Operations[i]
		switch {
		case s.isBuiltIn(o.Name):
			faults = append(faults, collision(o))
		case seen[o.Name]:
			faults = append(faults, fmt.Errorf("two operations are called %q", o.Name))
		case s.Family(o) == "":
			faults = append(faults,
				fmt.Errorf("operation %q: category %q is none of CREATE, READ, UPDATE, DELETE, EXECUTE", o.Name, o.Category))
		}
		seen[o.Name] = true
	}
	return errors.Join(faults...)
}

// success is the discriminated response of introspect (MCP-AQL introspection §3.1).
type success struct {
	Success bool `json:"success"`
	Data    any  `json:"data"`
}

// render returns v as compact JSON, with the characters < > & as they are. Introspect has checked what cannot be
// rendered.
func render(v any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return []byte(`{"success":false,"error":{"code":"INTERNAL_ERROR","message":"Internal error"}}`)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
