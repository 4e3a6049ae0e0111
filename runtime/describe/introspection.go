package describe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Introspection holds every answer of introspect (MCP-AQL introspection §2.3), each a complete response as one line of
// JSON. Its methods return shared bytes, which callers must not change. It is safe for concurrent use.
type Introspection struct {
	operations []byte
	operation  map[string][]byte // by name
	types      []byte
	typ        map[string][]byte // by name
}

// Operations returns the answer to the query "operations": the _protocol metadata and all operations, the built-in ones
// first (MCP-AQL introspection §4.1).
func (i *Introspection) Operations() []byte { return i.operations }

// Types returns the answer to the query "types": the types of the protocol and then those of the adapter (MCP-AQL
// introspection §5.1).
func (i *Introspection) Types() []byte { return i.types }

var (
	noOperation = []byte(`{"success":true,"data":{"operation":null}}`)
	noType      = []byte(`{"success":true,"data":{"type":null}}`)
)

// Operation returns the answer to the query "operations" with a name. For an unknown name this is null, not an error
// (MCP-AQL introspection §4.3).
func (i *Introspection) Operation(name string) []byte {
	if answer, ok := i.operation[name]; ok {
		return answer
	}
	return noOperation
}

// Type returns the answer to the query "types" with a name. For an unknown name this is null.
func (i *Introspection) Type(name string) []byte {
	if answer, ok := i.typ[name]; ok {
		return answer
	}
	return noType
}

// Introspect renders every answer of introspect for an adapter. The error lists everything that is wrong: a surface
// that is not valid, two operations or two types of one name, an unknown category, and defaults, bounds and examples
// that are not JSON.
func Introspect(a *gen.Definitions, s Surface, p Protocol) (*Introspection, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := checkOperations(a, s); err != nil {
		return nil, err
	}
	in := &Introspection{operation: make(map[string][]byte), typ: make(map[string][]byte)}
	var faults []error
	respond := func(what string, data any) []byte {
		answer, err := render(success{Success: true, Data: data})
		if err != nil {
			faults = append(faults, fmt.Errorf("rendering %s: %w", what, err))
		}
		return answer
	}

	list := operationsList{Protocol: p.info(a, s)}
	for _, o := range s.everyOperation(a, p.Queries...) {
		gated := p.gating(o)
		list.Operations = append(list.Operations, operationInfo{o.Name, o.Category, s.Family(o), summary(o, gated)})
		in.operation[o.Name] = respond("operation "+o.Name, map[string]any{"operation": detailsOf(o, s, gated)})
	}
	in.operations = respond("the operations", list)

	var infos []typeInfo
	for _, t := range s.allTypes(a) {
		if _, taken := in.typ[t.Name]; taken {
			faults = append(faults, fmt.Errorf("two types are called %q; names of protocol types cannot be used", t.Name))
		}
		infos = append(infos, typeInfo{t.Name, t.Kind, t.Description})
		in.typ[t.Name] = respond("type "+t.Name, map[string]any{"type": typeDetailsOf(&t)})
	}
	in.types = respond("the types", map[string]any{"types": infos})
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

// render returns v as compact JSON, with the characters < > & as they are.
func render(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
