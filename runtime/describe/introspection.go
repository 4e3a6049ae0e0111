package describe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Introspection holds every answer of introspect as complete responses, rendered once (MCP-AQL introspection §2.3). Its
// methods return shared bytes: callers must not change them. It is safe for concurrent use.
type Introspection struct {
	operations []byte
	operation  map[string][]byte // by name
	types      []byte
	typ        map[string][]byte // by name
}

// Operations is the answer to query "operations": the _protocol metadata and all operations, built-in ones first.
func (i *Introspection) Operations() []byte { return i.operations }

// Types is the answer to query "types": the protocol's types and then the adapter's.
func (i *Introspection) Types() []byte { return i.types }

var (
	noOperation = []byte(`{"success":true,"data":{"operation":null}}`)
	noType      = []byte(`{"success":true,"data":{"type":null}}`)
)

// Operation is the answer to query "operations" with a name. An unknown name is answered with null, not with an error
// (MCP-AQL introspection §4.3).
func (i *Introspection) Operation(name string) []byte {
	if answer, ok := i.operation[name]; ok {
		return answer
	}
	return noOperation
}

// Type is the answer to query "types" with a name. An unknown name is answered with null.
func (i *Introspection) Type(name string) []byte {
	if answer, ok := i.typ[name]; ok {
		return answer
	}
	return noType
}

// Introspect renders every answer of introspect for an adapter. It fails, saying everything that is wrong, on a surface
// that is not valid and on definitions that cannot be shown: two operations or types of one name, a category that does
// not exist, a default, bound or example that is not JSON.
func Introspect(a *gen.Adapter, s Surface, p Protocol) (*Introspection, error) {
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

// checkOperations reports operations that cannot be told apart or have no place on the surface.
func checkOperations(a *gen.Adapter, s Surface) error {
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
			faults = append(faults, fmt.Errorf("operation %q: category %q is none of CREATE, READ, UPDATE, DELETE, EXECUTE", o.Name, o.Category))
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

// render writes v as compact JSON, with the characters < > & as they are.
func render(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
