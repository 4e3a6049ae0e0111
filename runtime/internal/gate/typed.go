package gate

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
)

// checkTyped fails if requests can leave out what a person types to confirm them, or if people would not see it.
func checkTyped(definitions *gen.Definitions, o *gen.Operation) error {
	if o.TypeToConfirm == "" {
		return nil
	}
	p, known := o.Param(o.TypeToConfirm)
	if known && p.Required && !p.Sensitive {
		switch p.Type {
		case "string", "integer", "number", "boolean":
			return nil
		}
		if t, named := definitions.Type(p.Type); named && t.Kind == gen.KindEnum {
			return nil
		}
	}
	return fmt.Errorf("operation %s: people type %q to confirm it, which is no required text, number or boolean that may "+
		"be shown", o.Name, o.TypeToConfirm)
}

// personal reports whether no token that an agent presents confirms a call.
func (o *Operation) personal() bool { return o.humanOnly || o.typed != "" }

// typing is what a person types to confirm the request.
func (a *admission) typing() approve.Typing {
	if a.Operation.typed == "" {
		return approve.Typing{}
	}
	return approve.Typing{Param: a.Operation.typed, Value: a.Params.Plain(a.Operation.typed)}
}

// types reports whether a person was asked to type, for a token.
func (a *admission) types(token string) bool {
	return a.Operation.typed != "" && !strings.HasPrefix(token, string(ContinuationToken))
}

// approves reports whether the answer of a person approves of what a token is for.
func (a *admission) approves(token string) bool {
	if a.types(token) {
		return a.typing().Accepts(a.Typed)
	}
	return a.Approved
}
