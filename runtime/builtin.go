package aql

import (
	"context"
	"errors"
	"slices"

	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// builtInCall is a call that the adapter answers itself. Neither policy nor trust, limits or confirmations hold it, since
// agents must be able to find out what there is (requirements T-86).
type builtInCall interface {
	call
	reply(ctx context.Context, x *exchange) (Reply, *Error)
}

// errBuiltIn is what a built-in call returns in place of a handler's result.
var errBuiltIn = errors.New("the operation is answered by reply")

// manifestCall is a request to the built-in operation get_manifest, which has no parameters. Its answer was rendered when the
// adapter was made (requirements REQ-GM-06).
type manifestCall struct{ answer []byte }

func (a *Adapter) newManifestCall(*slots) call { return manifestCall{a.manifest} }

func (manifestCall) next(r *wire.Reader) (known, more bool)     { return false, r.NextField() }
func (manifestCall) member(*wire.Reader) (known bool)           { return false }
func (manifestCall) outweigh()                                  {}
func (manifestCall) has(int) bool                               { return false } // nothing holds what is built in
func (manifestCall) complete(*wire.Reader)                      {}
func (manifestCall) invoke(context.Context, *wire.Writer) error { return errBuiltIn }

func (c manifestCall) reply(_ context.Context, x *exchange) (Reply, *Error) {
	if refused := x.introspectionDenied(); refused != nil {
		return Reply{}, refused
	}
	return Reply{JSON: c.answer}, nil
}

// renderManifest renders the answer to get_manifest.
func (a *Adapter) renderManifest() ([]byte, error) {
	text, err := manifest.Render(&a.definitions)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(successOpen), text, []byte("}")), nil
}

// Manifest renders what the service can do as one line of JSON: a declaration of its operations and their parameters, without
// anything that depends on how the adapter runs (get_manifest, Output Structure). It fails on a service without a name. With
// Options.GetManifest agents can ask for it.
func (a *Adapter) Manifest() ([]byte, error) { return manifest.Render(&a.definitions) }
