package aql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Fields lets agents select the fields of a result. Embed it in the request of a READ operation: the operation then has
// the parameters fields and preset, and its results contain only what was selected (MCP-AQL field selection §2). The
// tag key preset names the presets that a field of the resource belongs to. Without a selection, a single resource has
// all of its fields, those of a list have their standard fields, and those of a search_ operation their minimal ones.
type Fields struct {
	Select Selection `json:"fields,omitzero"`  // the fields, by preset or by path
	Preset string    `json:"preset,omitempty"` // the name of a preset
}

// Selection is the value of the parameter fields: the name of a preset, or a list of paths such as "title" and
// "metadata.color".
type Selection struct{ chosen codec.Selection }

// Selected reports whether the request selects the field with this path, or something in it: a handler need not compute
// the others. It is true where a preset decides.
func (f Fields) Selected(path string) bool {
	if len(f.Select.chosen.Paths) == 0 || f.Select.chosen.Preset != "" || f.Preset != "" {
		return true
	}
	return slices.ContainsFunc(f.Select.chosen.Paths, func(chosen string) bool {
		return chosen == path || strings.HasPrefix(chosen, path+".") || strings.HasPrefix(path, chosen+".")
	})
}

// selectFields finds the fields of the result that the request selects. A path that leads to no field is refused, or
// left out if the adapter omits unknown fields.
func (c *handled) selectFields(r *wire.Reader) {
	var unknown []string
	c.chosen, unknown = c.selector.Select(c.place, c.mask)
	if path := c.chosen.TooFar; path != "" {
		r.Unacceptable("fields", "path of at most "+strconv.Itoa(gen.MaxRelations)+" relations",
			"Shorten '"+path+"', and ask for the rest by another operation")
		return
	}
	if c.omitUnknown {
		c.omitted = unknown
		return
	}
	var valid []string
	for _, path := range unknown[:min(len(unknown), mostSuggestions)] {
		for _, name := range c.selector.ValidPaths(path, c.mask) {
			if !slices.Contains(valid, name) {
				valid = append(valid, name)
			}
		}
	}
	for _, path := range unknown {
		r.UnknownPath("fields", path, valid)
	}
}
