package describe

import (
	"encoding/json"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// typesBudget is how many bytes of types DetailsQuery adds to the operations.
const typesBudget = 1500

// detailsAnswer is the data of DetailsQuery.
type detailsAnswer struct {
	Operations []json.RawMessage `json:"operations"`
	Unknown    []string          `json:"unknown,omitempty"`    // names of no operation
	Types      []json.RawMessage `json:"types,omitempty"`      // of the requests; the parameters' own first
	MoreTypes  []string          `json:"more_types,omitempty"` // that were left out
}

// Details returns the answer to DetailsQuery: operations in full, and the types of their requests. An operation that is
// named twice is there once.
func (i *Introspection) Details(names []string) []byte {
	answer := detailsAnswer{Operations: make([]json.RawMessage, 0, len(names))}
	var operations []*gen.Operation
	for _, name := range names {
		o := i.finder.operations[name]
		switch {
		case o == nil && !slices.Contains(answer.Unknown, name):
			answer.Unknown = append(answer.Unknown, name)
		case o != nil && !slices.Contains(operations, o):
			operations = append(operations, o)
			answer.Operations = append(answer.Operations, member(i.operation[name].bytes(), "operation"))
		}
	}
	left := typesBudget
	for _, t := range i.finder.requestTypes(operations) {
		text := member(i.typ[t.Name].bytes(), "type")
		if left -= len(text); left < 0 || answer.MoreTypes != nil {
			answer.MoreTypes = append(answer.MoreTypes, t.Name)
			continue
		}
		answer.Types = append(answer.Types, text)
	}
	return render(success{Success: true, Data: answer})
}

// member returns the value in an answer with a single one.
func member(answer []byte, name string) json.RawMessage {
	open := len(`{"success":true,"data":{"":`) + len(name)
	return answer[open : len(answer)-len(`}}`)]
}

// requestTypes returns the types that requests mention, those of parameters before the types of their fields. An
// enumeration whose values are listed where it is mentioned is left out.
func (f *finder) requestTypes(operations []*gen.Operation) []*gen.Type {
	var fields []*gen.Param
	add := func(params []gen.Param) {
		for k := range params {
			fields = append(fields, &params[k])
		}
	}
	for _, o := range operations {
		add(o.Params)
	}
	var found []*gen.Type
	take := func(name string, listed bool) {
		t := f.types[name]
		if t == nil || listed && t.Kind == gen.KindEnum || slices.Contains(found, t) {
			return
		}
		found = append(found, t)
		add(t.Fields)
		add(t.Related)
		if t.Items != nil {
			fields = append(fields, t.Items)
		}
		for _, name := range t.Members {
			fields = append(fields, &gen.Param{Type: name})
		}
	}
	for k := 0; k < len(fields); k++ {
		p := fields[k]
		for p.Items != nil {
			p = p.Items
		}
		take(p.Type, len(p.Enum) > 0)
	}
	return found
}
