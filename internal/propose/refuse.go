package propose

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/model"
)

// refusal is why a function is not proposed.
type refusal struct {
	message, suggestion string
	at                  token.Pos      // what it is about; none: the function
	position            model.Position // the same, from a diagnostic
	unexported          bool
}

// specifics are the parts of a reason that are about one function.
var specifics = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(` \(.*\)$`), ""},
	{regexp.MustCompile(`^(argument|field|result of) [^ ]+: `), "$1: "},
	{regexp.MustCompile(`^its argument [^ ]+ (is|of)`), "an argument $1"},
	{regexp.MustCompile(`its receiver \w+ is a value that .* takes`), "its receiver is a value that another one takes"},
	{regexp.MustCompile(`: [^ ]+ brings in fields .*`), ": it brings in fields that cannot be carried as JSON"},
	{regexp.MustCompile(`Go calls \w+ for`), "Go calls it for"},
	{regexp.MustCompile(`it has \d+ results`), "it has several results"},
	{regexp.MustCompile(`(interface|channel|func)[ ({].* cannot be carried`), "$1 cannot be carried"},
	{regexp.MustCompile(`(type parameter) \w+`), "$1"},
	{regexp.MustCompile(`[\w/]*\*?[\w]+\.[A-Z]\w*(\[.*\])?`), "…"},
	{regexp.MustCompile(`undefined: .*`), "undefined"},
}

// Kind returns the reason without what is about this function alone, to count by.
func (r Rejection) Kind() string {
	kind := r.Reason
	for _, s := range specifics {
		kind = s.pattern.ReplaceAllString(kind, s.text)
	}
	return kind
}

func misfitRefusal(fn scan.Function) refusal {
	if fn.Misfit != nil {
		return refusal{message: "it is tagged as an operation, but " + fn.Misfit.Message, suggestion: fn.Misfit.Suggestion}
	}
	return refusal{message: fmt.Sprintf("it takes %s, which another function handles", gotype.Name(fn.Request))}
}

// refuse returns why a function is not an operation, as far as that can be told without its types. It returns nil if
// nothing is known.
func refuse(fn *types.Func, adopts bool) *refusal {
	name, signature := fn.Name(), fn.Signature()
	if !fn.Exported() {
		return &refusal{message: "it is not exported", unexported: true}
	}
	if receiver := receiverType(fn); adopts && receiver != nil && !receiver.Obj().Exported() {
		return &refusal{message: "its type is not exported", unexported: true}
	}
	if message := constructor(fn); message != "" {
		return &refusal{message: message}
	}
	if isWellKnown(name, signature) {
		return &refusal{message: fmt.Sprintf("Go calls %s for its own purposes", name)}
	}
	params := slices.Collect(signature.Params().Variables())
	for i, v := range params {
		if adopts && signature.Variadic() && i == len(params)-1 {
			continue // what cannot be carried is left out
		}
		if fault := refuseParam(v, signature.Variadic() && i == len(params)-1); fault != nil {
			fault.at = v.Pos()
			return fault
		}
	}
	for v := range signature.Results().Variables() {
		if fault := refuseResult(v.Type()); fault != nil {
			return fault
		}
		if adopts {
			break // what cannot be carried beside the first is left out
		}
	}
	return nil
}

// constructor returns why a function that makes a service is not a part of it, empty if it does not make one.
func constructor(fn *types.Func) string {
	if fn.Signature().Recv() != nil {
		return ""
	}
	switch verb, _, _ := strings.Cut(naming.SnakeCase(fn.Name()), "_"); verb {
	case "new", "open", "dial", "connect", "must", "make":
		return "it makes something for the program, not for agents"
	case "with":
		return "it makes an option"
	}
	return ""
}

// isWellKnown reports whether a method is one that the standard library calls, or the program that owns the value.
// Methods of a service take a context or other arguments.
func isWellKnown(name string, signature *types.Signature) bool {
	if signature.Recv() == nil {
		return false
	}
	params := slices.Collect(signature.Params().Variables())
	if len(params) > 0 && gotype.Is(params[0].Type(), "context", "Context") {
		return len(params) == 1 && name == "Shutdown"
	}
	takes := func(list ...string) bool {
		return slices.EqualFunc(params, list, func(v *types.Var, text string) bool {
			return types.TypeString(types.Unalias(v.Type()), nil) == text
		})
	}
	switch name {
	case "String", "GoString", "Error", "Unwrap", "Close", "Shutdown", "Value", "GobEncode", "Flush":
		return len(params) == 0
	case "Serve", "ListenAndServe":
		return len(params) <= 1
	case "Read", "Write", "GobDecode":
		return takes("[]byte") || takes("[]uint8")
	case "Set", "WriteString":
		return takes("string")
	case "Is", "As", "Scan":
		return takes("any") || takes("interface{}") || takes("error")
	case "Less", "Swap":
		return takes("int", "int")
	case "Seek":
		return takes("int64", "int")
	case "Format":
		return takes("fmt.State", "rune")
	case "ServeHTTP":
		return true
	}
	for _, prefix := range []string{"Marshal", "Unmarshal", "Append"} {
		if format, ok := strings.CutPrefix(name, prefix); ok &&
			slices.Contains([]string{"JSON", "Text", "Binary", "XML", "XMLAttr", "YAML", "BSON", "TOML", "JSONTo", "JSONFrom"},
				format) {
			return true
		}
	}
	return false
}

// refuseParam returns why an argument cannot come from an agent.
func refuseParam(v *types.Var, variadic bool) *refusal {
	t := types.Unalias(v.Type())
	elem := t
	if slice, ok := t.(*types.Slice); ok && variadic {
		elem = types.Unalias(slice.Elem())
	}
	elem = gotype.Pointee(elem)
	text := gotype.Name(elem)
	if named, ok := elem.(*types.Named); ok && named.Obj().Pkg() != nil {
		text = named.Obj().Pkg().Name() + "." + named.Obj().Name()
		switch path := named.Obj().Pkg().Path(); {
		case path == "testing":
			return &refusal{message: "it is for tests"}
		case path == "net/http" && named.Obj().Name() == "ResponseWriter":
			return &refusal{message: "it answers HTTP requests itself", suggestion: "propose the function that it calls"}
		case path == "io" || path == "bufio" || path == "os":
			return &refusal{
				message:    fmt.Sprintf("it takes %s, and agents send values, not streams", text),
				suggestion: "write a function that takes a string or []byte",
			}
		case path == "net/http" || path == "database/sql" && !strings.HasPrefix(named.Obj().Name(), "Null"):
			return &refusal{
				message: fmt.Sprintf("it takes %s, which only the program has", text), suggestion: "keep it in the receiver",
			}
		}
	}
	switch elem.Underlying().(type) {
	case *types.Signature:
		if variadic {
			return &refusal{
				message:    fmt.Sprintf("it takes options that are functions (...%s)", text),
				suggestion: "write a function that takes the options as a struct or as arguments",
			}
		}
		return &refusal{message: fmt.Sprintf("it takes a function (%s)", text), suggestion: "write a function without it"}
	case *types.Chan:
		return &refusal{
			message: fmt.Sprintf("it takes a channel (%s)", text), suggestion: "write a function that takes a slice",
		}
	}
	return nil
}

// refuseResult returns why a result cannot go to an agent.
func refuseResult(t types.Type) *refusal {
	named, _ := types.Unalias(t).(*types.Named)
	switch t.Underlying().(type) {
	case *types.Chan:
		return &refusal{
			message:    fmt.Sprintf("it returns a channel (%s), and agents get one answer", gotype.Name(t)),
			suggestion: "write a function that returns a slice",
		}
	case *types.Signature:
		if named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "iter" {
			return &refusal{
				message: "it returns an iterator, and agents get one answer", suggestion: "write a function that returns a slice",
			}
		}
		return &refusal{message: fmt.Sprintf("it returns a function (%s)", gotype.Name(t))}
	}
	if named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "io" {
		return &refusal{
			message:    fmt.Sprintf("it returns io.%s, and agents get values, not streams", named.Obj().Name()),
			suggestion: "write a function that returns a string or []byte",
		}
	}
	return nil
}

// refuseResources drops the methods of types that other functions take or return. Those types are values, not services.
func (p *proposer) refuseResources() {
	users := make(map[*types.TypeName]*draft)
	for _, d := range slices.Concat(p.existing, p.drafts) {
		visited := make(map[*shapes.Shape]bool)
		var walk func(shape *shapes.Shape)
		walk = func(shape *shapes.Shape) {
			if shape == nil || visited[shape] {
				return
			}
			visited[shape] = true
			if named, ok := shape.Type.(*types.Named); ok && len(shape.Fields) > 0 {
				object := named.Origin().Obj()
				own := receiverType(d.fn.Func)
				if users[object] == nil && (own == nil || own.Origin().Obj() != object) {
					users[object] = d
				}
			}
			walk(shape.Elem)
			for _, field := range shape.Fields {
				walk(field.Shape)
			}
		}
		walk(d.trial.Request)
		walk(d.trial.Result)
	}
	p.drafts = slices.DeleteFunc(p.drafts, func(d *draft) bool {
		named := receiverType(d.fn.Func)
		if named == nil {
			return false
		}
		user := users[named.Origin().Obj()]
		if user == nil {
			return false
		}
		p.reject(d.fn, refusal{
			message: fmt.Sprintf("its receiver %s is a value that %s takes or returns, not a service", named.Obj().Name(),
				functionName(user.fn.Func)),
			suggestion: "write a method of the service that calls it",
		})
		return true
	})
}
