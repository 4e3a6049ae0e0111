package describe

import "github.com/aqltag/aqltag/runtime/gen"

// summarySupport says what agents may summarise of what an operation lists (MCP-AQL aggregations §5).
type summarySupport struct {
	Supported   bool     `json:"supported"`
	DefaultMode string   `json:"default_mode"`
	Functions   []string `json:"functions"`
	Groupable   []string `json:"groupable_fields,omitempty"`
	Numeric     []string `json:"numeric_fields,omitempty"`
}

// summariesOf returns what agents may summarise of what an operation lists; nil: nothing.
func summariesOf(a *gen.Definitions, o *gen.Operation) *summarySupport {
	s, ok := a.Summaries(o)
	if !ok {
		return nil
	}
	return &summarySupport{
		Supported: true, DefaultMode: "summary_only", Functions: s.Functions, Groupable: s.Groupable, Numeric: s.Numeric,
	}
}
