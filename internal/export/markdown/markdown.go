// Package markdown renders the reference page of package reference for an adapter that runs with standard options.
package markdown

import (
	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/reference"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Render returns the page about an adapter. It fails on a surface that is not valid.
func Render(a *gen.Definitions, s describe.Surface) ([]byte, error) {
	return reference.Render(a, s, export.StandardProtocol(a))
}
