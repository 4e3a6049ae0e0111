package scan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/model"
)

// envelope is a generic type of another library that stands around the request or the result of a call.
type envelope struct {
	pkg, name string
	wrap      string // function of the package that puts a pointer to a request into one
	field     string // of a result: what agents get
	streams   bool
}

// envelopes is the table of those that adopted functions may take or return. The libraries are known by these names
// alone.
var envelopes = []envelope{
	{pkg: "connectrpc.com/connect", name: "Request", wrap: "NewRequest"},
	{pkg: "connectrpc.com/connect", name: "Response", field: "Msg"},
	{pkg: "connectrpc.com/connect", name: "ClientStream", streams: true},
	{pkg: "connectrpc.com/connect", name: "ServerStream", streams: true},
	{pkg: "connectrpc.com/connect", name: "BidiStream", streams: true},
}

// opened returns the envelope that a type points to, and what is in it.
func opened(t types.Type) (envelope, types.Type, bool) {
	pointer, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return envelope{}, nil, false
	}
	named, ok := types.Unalias(pointer.Elem()).(*types.Named)
	if !ok || named.TypeArgs().Len() == 0 {
		return envelope{}, nil, false
	}
	i := slices.IndexFunc(envelopes, func(e envelope) bool { return gotype.Is(named, e.pkg, e.name) })
	if i < 0 {
		return envelope{}, nil, false
	}
	return envelopes[i], named.TypeArgs().At(0), true
}

// openRequest takes what is in an envelope as the request of an adopted function. It returns false if the parameter is
// none.
func (b *builder) openRequest(o *operation, h *handled, t types.Type) (*shapes.Fault, bool) {
	e, content, ok := opened(t)
	switch {
	case !ok:
		return nil, false
	case e.streams:
		return &shapes.Fault{
			Message:    fmt.Sprintf("it takes the stream %s, and an operation has one request and one result", b.text(t)),
			Suggestion: "write a function that reads or fills it, with //aql:op",
		}, true
	}
	request, _ := requestType(content, false)
	if request == nil || e.wrap == "" {
		return nil, false
	}
	o.request = request
	pkg := types.Unalias(types.Unalias(t).(*types.Pointer).Elem()).(*types.Named).Obj().Pkg()
	o.pointer = true
	h.Adopted.Wrap = model.Wrap{Package: model.Import{Path: pkg.Path(), Name: pkg.Name()}, Func: e.wrap}
	return nil, true
}

// openResult returns what agents get of a result: what is in the envelope, or the result itself.
func openResult(h *handled, t types.Type) types.Type {
	e, content, ok := opened(t)
	if !ok || e.field == "" {
		return t
	}
	h.Adopted.Field = e.field
	return types.NewPointer(content)
}
