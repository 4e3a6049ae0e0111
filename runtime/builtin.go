package aql

import (
	"context"
	"slices"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// builtInCall is a call that the adapter answers itself. Neither policy nor trust, limits or confirmations apply to it,
// since agents must be able to find out what there is.
type builtInCall interface {
	call
	// answer returns the complete answer. view is what the message goes by.
	answer(ctx context.Context, view *view, report reporter) ([]byte, *Error)
}

// manifestCall is a call of the built-in operation get_manifest, which has no parameters.
type manifestCall struct{ adapter *Adapter }

func (a *Adapter) newManifestCall(*slots) call { return manifestCall{a} }

func (manifestCall) next(r *wire.Reader) (known, more bool) { return false, r.NextUnchecked() }
func (manifestCall) member(*wire.Reader) (known bool)       { return false }
func (manifestCall) keepFirst()                             {}
func (manifestCall) complete(context.Context, *wire.Reader) {}

func (c manifestCall) answer(ctx context.Context, view *view, report reporter) ([]byte, *Error) {
	if denied := c.adapter.introspectionDenied(describe.ManifestName); denied != nil {
		return nil, denied
	}
	answer, err := view.manifest()
	if err != nil {
		return nil, report.internal(ctx, err, nil, unexpected)
	}
	return answer, nil
}

// renderManifest renders the answer of get_manifest.
func renderManifest(definitions *gen.Definitions) ([]byte, error) {
	text, err := manifest.Render(definitions)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(successOpen), text, []byte("}")), nil
}

// Manifest renders a declaration of the operations and their parameters as one line of JSON (MCP-AQL get_manifest). It
// depends on nothing but the definitions. It fails if the service has no name. With Options.GetManifest, agents can
// call the operation get_manifest, which returns it.
func (a *Adapter) Manifest() ([]byte, error) { return manifest.Render(&a.definitions) }
