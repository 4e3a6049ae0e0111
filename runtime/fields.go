package aql

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Fields lets agents say which fields of a result they want. Embed it in the request of a READ operation: the operation then
// has the parameters fields and preset, and its results hold only what was asked for (MCP-AQL field selection §2). The tag
// key preset tells which presets the fields of the resource belong to. Where an agent says nothing, a single resource comes
// whole, those of a list with their standard fields, and those of a search_ operation with their minimal ones.
type Fields struct {
	Fields Selection `json:"fields,omitzero"`
	Preset string    `json:"preset,omitempty"`
}

// Selection is what an agent sends as fields: the name of a preset, or a list of paths such as "title" and
// "metadata.color".
type Selection struct{ chosen codec.Selection }

// Selected reports whether the result is going to show the field with this path, or something in it, so far as the request
// itself tells: a handler may spare itself the work for others. It is true where a preset decides.
func (f Fields) Selected(path string) bool {
	if len(f.Fields.chosen.Paths) == 0 || f.Fields.chosen.Preset != "" || f.Preset != "" {
		return true
	}
	return slices.ContainsFunc(f.Fields.chosen.Paths, func(asked string) bool {
		return asked == path || strings.HasPrefix(asked, path+".") || strings.HasPrefix(path, asked+".")
	})
}

// selectFields finds out which fields of the result are wanted. A path that leads to none is refused, or left out where the
// adapter leaves such paths out (requirements REQ-FS-07, T-39).
func (c *handled) selectFields(r *wire.Reader) {
	subset, unknown := c.selector.Select(c.place)
	c.subset = subset
	if c.lenient {
		c.omitted = unknown
		return
	}
	var valid []string
	for _, path := range unknown[:min(len(unknown), mostSuggestions)] {
		for _, name := range c.selector.ValidPaths(path) {
			if !slices.Contains(valid, name) {
				valid = append(valid, name)
			}
		}
	}
	for _, path := range unknown {
		r.UnknownPath("fields", path, valid)
	}
}
