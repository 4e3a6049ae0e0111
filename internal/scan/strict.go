package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
)

// route matches the method and the path that oapi-codegen writes into the comment of a method.
var route = regexp.MustCompile(`\((GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) /[^)\n]*\)`)

// strictTypes returns the request and the response of a method of a strict server, as oapi-codegen generates its
// interface: a struct and an interface whose only method writes the response.
func strictTypes(fn *types.Func) (request, response *types.Named, ok bool) {
	signature := fn.Signature()
	params, results := signature.Params(), signature.Results()
	if params.Len() != 2 || results.Len() != 2 || !gotype.Is(params.At(0).Type(), "context", "Context") ||
		!isError(results.At(1).Type()) {
		return nil, nil, false
	}
	request, isRequest := types.Unalias(params.At(1).Type()).(*types.Named)
	response, isResponse := types.Unalias(results.At(0).Type()).(*types.Named)
	if !isRequest || !isResponse || !strings.HasSuffix(request.Obj().Name(), "RequestObject") {
		return nil, nil, false
	}
	_, isStruct := request.Underlying().(*types.Struct)
	return request, response, isStruct && strictOperation(response) != ""
}

// strictOperation returns the name of the operation that a type has the responses of; empty: it is no such type.
func strictOperation(response *types.Named) string {
	methods, ok := response.Underlying().(*types.Interface)
	if !ok || methods.NumMethods() != 1 || !strings.HasSuffix(response.Obj().Name(), "ResponseObject") {
		return ""
	}
	name, visits := strings.CutPrefix(methods.Method(0).Name(), "Visit")
	name, responds := strings.CutSuffix(name, "Response")
	if !visits || !responds {
		return ""
	}
	return name
}

// openStrict takes the request and the responses of a method of a strict server apart.
func (b *builder) openStrict(o *operation, h *handled) *shapes.Fault {
	request, response, _ := strictTypes(o.fn)
	operation := strictOperation(response)
	call := &httpCall{request: request}
	st := request.Underlying().(*types.Struct)
	var bodies []*types.Var
	for i := range st.NumFields() {
		_, isStruct := st.Field(i).Type().Underlying().(*types.Struct)
		switch v := st.Field(i); {
		case v.Name() == "Params" && isStruct:
			if fault := b.openStrictParams(o, call, v, operation); fault != nil {
				return fault
			}
		case reflect.StructTag(st.Tag(i)).Get("json") != "":
			call.inputs = append(call.inputs, httpInput{v, []string{v.Name()}, jsonName(st.Tag(i)), true, true})
		case strings.HasSuffix(v.Name(), "Body"):
			bodies = append(bodies, v)
		}
	}
	if len(bodies) > 0 {
		i := slices.IndexFunc(bodies, func(v *types.Var) bool { return v.Name() == "JSONBody" || v.Name() == "Body" })
		if i < 0 || !b.carries(bodies[i].Type()) {
			return &shapes.Fault{
				Message:    fmt.Sprintf("it takes %s, which is not JSON", b.text(bodies[max(i, 0)].Type())),
				Suggestion: "write a function that takes its values, with //aql:op",
			}
		}
		call.body = &httpBody{bodies[i], []string{bodies[i].Name()}}
		for _, other := range slices.Delete(bodies, i, i+1) {
			b.leaveOut(o, "body "+other.Name(), "agents send JSON")
		}
	}
	o.http = call
	return b.openResponses(o, h, response, operation)
}

// jsonName is the name in the json tag of a field.
func jsonName(tag string) string {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name
}

// openStrictParams finds the parameters of the query among those that are not in the path.
func (b *builder) openStrictParams(o *operation, call *httpCall, params *types.Var, operation string) *shapes.Fault {
	st := params.Type().Underlying().(*types.Struct)
	places := b.strictPlaces(call.request, operation)
	for i := range st.NumFields() {
		v, name := st.Field(i), jsonName(st.Tag(i))
		_, optional := types.Unalias(v.Type()).(*types.Pointer)
		switch place := places[name]; place {
		case "query":
			call.inputs = append(call.inputs, httpInput{v, []string{params.Name(), v.Name()}, name, false, !optional})
		case "header", "cookie":
			if fault := b.leaveHeader(o, place, name, !optional); fault != nil {
				return fault
			}
		default:
			return &shapes.Fault{
				Message: fmt.Sprintf("nothing tells whether its parameter %s is in the query, a header or a cookie: "+
					"no ServerInterfaceWrapper.%s reads it", name, operation),
				Suggestion: "let oapi-codegen generate the server into the same package",
			}
		}
	}
	return nil
}

// strictPlaces tells for the parameters of an operation whether the generated server reads them from the query, a
// header or a cookie. It is the only place that knows: to the struct that has them, they are alike.
func (b *builder) strictPlaces(request types.Type, operation string) map[string]string {
	places := make(map[string]string)
	wrapper := b.ScopeOf(request.(*types.Named).Obj().Pkg()).Lookup("ServerInterfaceWrapper")
	if wrapper == nil {
		return places
	}
	method := methodNamed(wrapper.Type(), operation)
	if method == nil {
		return places
	}
	body := b.Body(method)
	if body == nil {
		return places
	}
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		reads := types.ExprString(call.Fun)
		for _, argument := range call.Args {
			literal, ok := argument.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				continue
			}
			for _, place := range []string{"cookie", "header", "query"} {
				if strings.Contains(strings.ToLower(reads), place) && places[name] == "" {
					places[name] = place
				}
			}
		}
		return true
	})
	return places
}

// strictResponse is one of the types of a response.
type strictResponse struct {
	model.Response
	content types.Type // nil: nothing
}

// statusOf matches the end of the name of a response: its status and its content.
var statusOf = regexp.MustCompile(`^([1-5][0-9][0-9]|[1-5]XX|default)[A-Za-z0-9_]*Response$`)

// openResponses finds the types of an operation's response. Those of a success are its result, the others are failures
// with their status.
func (b *builder) openResponses(o *operation, h *handled, response *types.Named, operation string) *shapes.Fault {
	item, chosen := tags.Find(o.items, "result")
	silent := chosen && item.Value == "0"
	scope := b.ScopeOf(response.Obj().Pkg())
	methods := response.Underlying().(*types.Interface)
	var list []strictResponse
	for _, name := range scope.Names() {
		object, isType := scope.Lookup(name).(*types.TypeName)
		rest, named := strings.CutPrefix(name, operation)
		match := statusOf.FindStringSubmatch(rest)
		if !isType || !named || match == nil || !types.Implements(object.Type(), methods) {
			continue
		}
		r := b.strictResponse(object, match[1])
		if r.Success = match[1][0] == '2'; r.Success && silent {
			r.content, r.Value, r.Convert = nil, "", model.GoType{}
		}
		r.Empty = r.content == nil
		list = append(list, r)
	}
	o.result = nil
	empty := false
	for _, r := range list {
		switch {
		case !r.Success:
		case r.content == nil:
			empty = true
		case !b.carries(r.content) || isHidden(r.content):
			return &shapes.Fault{
				Message:    fmt.Sprintf("it answers with %s, which is not JSON", b.text(r.content)),
				Suggestion: withoutResult(*o, "write a function that returns a struct, with //aql:op"),
			}
		case o.result == nil:
			o.result = r.content
		case !types.Identical(o.result, r.content):
			return &shapes.Fault{
				Message: fmt.Sprintf("it returns %s or %s, and an operation has one result", b.text(o.result),
					b.text(r.content)),
				Suggestion: withoutResult(*o, "write a function that returns a struct of both, with //aql:op"),
			}
		}
	}
	if !slices.ContainsFunc(list, func(r strictResponse) bool { return r.Success }) {
		return &shapes.Fault{
			Message:    "none of its responses has a status of success, from 200 to 299",
			Suggestion: "add one to the OpenAPI document; or write a function that calls it, with //aql:op",
		}
	}
	if empty && o.result != nil {
		text, _ := b.speller.Spell(o.result)
		o.result, h.Adopted.Nullable = types.NewPointer(o.result), text
	}
	for _, r := range list {
		h.Adopted.Responses = append(h.Adopted.Responses, r.Response)
	}
	return nil
}

// strictResponse finds what a type of a response holds.
func (b *builder) strictResponse(object *types.TypeName, status string) strictResponse {
	var r strictResponse
	r.Type, _ = b.speller.Spell(object.Type())
	r.Status, _ = strconv.Atoi(status)
	content, way := types.Unalias(object.Type()), []string(nil)
	for range 2 { // a response of components/responses is embedded
		st, ok := content.Underlying().(*types.Struct)
		if !ok {
			break
		}
		fields := make(map[string]*types.Var)
		for i := range st.NumFields() {
			if st.Tag(i) == "" {
				fields[st.Field(i).Name()] = st.Field(i)
			}
		}
		if fields["StatusCode"] != nil && r.Status == 0 {
			r.Code = shapes.PathOf(append(slices.Clone(way), "StatusCode"))
		}
		switch {
		case st.NumFields() == 0:
			return r
		case st.NumFields() == 1 && st.Field(0).Embedded():
			content, way = types.Unalias(st.Field(0).Type()), append(way, st.Field(0).Name())
			continue
		case fields["Body"] != nil:
			r.content, r.Value = fields["Body"].Type(), shapes.PathOf(append(way, "Body"))
			return r
		case len(fields) == st.NumFields() && (fields["StatusCode"] != nil || fields["Headers"] != nil):
			return r // nothing but the status and headers
		}
		break
	}
	r.content, r.Value = content, shapes.PathOf(way)
	if named, ok := content.(*types.Named); ok {
		if base := b.declaredAs(named.Obj()); base != nil && shapes.MarshalMethod(content) == "" {
			r.content = base
			r.Convert, _ = b.speller.Spell(base)
		}
	}
	return r
}

// declaredAs returns the type Pet of a declaration such as type GetPet200JSONResponse Pet, nil if it is none of a name.
func (b *builder) declaredAs(object *types.TypeName) types.Type {
	spec := b.TypeSyntax(object).Spec
	if spec == nil || spec.Assign.IsValid() {
		return nil
	}
	var found types.Object
	switch t := spec.Type.(type) {
	case *ast.Ident:
		found = b.ScopeOf(object.Pkg()).Lookup(t.Name)
	case *ast.SelectorExpr:
		for _, imported := range object.Pkg().Imports() {
			other, ok := b.ScopeOf(imported).Lookup(t.Sel.Name).(*types.TypeName)
			if ok && types.Identical(other.Type().Underlying(), object.Type().Underlying()) {
				if found != nil {
					return nil
				}
				found = other
			}
		}
	}
	if name, ok := found.(*types.TypeName); ok {
		return types.Unalias(name.Type())
	}
	return nil
}
