// Package llms renders definitions as an llms.txt: a short text in Markdown that tells an agent, or the author of one,
// what an adapter offers and how to use it. Introspection has the details.
package llms

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Render returns the text about an adapter. It fails on a surface that is not valid.
func Render(a *gen.Definitions, s describe.Surface) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	introspect := describe.IntrospectOperation()
	line("# %s", strings.TrimSpace(cmp.Or(a.Name, "MCP-AQL adapter")+" "+a.Version))
	line("\n> %s", summary(a, s))
	line("\n## How to use it\n")
	line("- Find out what there is: call `%s` with "+
		"`{\"operation\": \"introspect\", \"params\": {\"query\": \"operations\"}}`. Add `\"name\": NAME` "+
		"to see one operation in full, and use `\"query\": \"types\"` for types.", s.Tool(&introspect))
	line("- Call an operation: its tool, with `{\"operation\": NAME, \"params\": {…}}`. %s", routing(s))
	line("- Read the answer: `{\"success\": true, \"data\": …}` or " +
		"`{\"success\": false, \"error\": {\"code\", \"message\", \"details\"}}`. " +
		"The details of an error say what to change; try again with that.")
	line("- Name only parameters that are listed: others are refused, with a suggestion. Null counts as absent.")
	if names := confirmed(a); len(names) > 0 {
		line("- %s: the answer is CONFIRMATION_REQUIRED with a token. Ask the human, and send the same request again "+
			"with `\"confirmation_token\": TOKEN`.", askFirst(names))
	}
	if a.SelectsFields() {
		line("- Ask for little: operations with `fields` return what you name, as a preset or a list of paths.")
	}
	line("- Several calls at once: `{\"operations\": [{\"operation\": NAME, \"params\": {…}}, …]}`; " +
		"a failure does not stop the others, and a question does.")
	line("\n## Operations")
	for _, family := range s.Profile.Families {
		for i, o := range s.OwnOperations(a, family.Name) {
			if i == 0 {
				line("\n### %s, tool `%s`\n", family.Name, s.Tool(o))
			}
			line("- `%s`: %s", signature(o), about(o))
		}
	}
	return []byte(words.Visible(b.String())), nil
}

func summary(a *gen.Definitions, s describe.Surface) string {
	about := ""
	if a.Description != "" {
		about = strings.Join(strings.Fields(a.Description), " ") + " "
	}
	tools := make(map[string]bool)
	for i := range a.Operations {
		tools[s.Tool(&a.Operations[i])] = true
	}
	return about + fmt.Sprintf("%s and introspection, through %s of an MCP server that speaks MCP-AQL %s.",
		words.Count(len(a.Operations), "operation"), words.Count(len(tools), "tool"), describe.Version)
}

func routing(s describe.Surface) string {
	switch s.Mode {
	case describe.Single:
		return "There is one tool for all operations."
	case describe.All:
		return "The tool `" + s.Prefix + "mcp_aql` takes every operation, the others those of their family."
	default:
		return "A tool takes the operations of its own family only."
	}
}

// confirmed returns the names of the operations that need confirmation.
func confirmed(a *gen.Definitions) []string {
	var names []string
	for i := range a.Operations {
		if o := &a.Operations[i]; export.NeedsConfirmation(o) {
			names = append(names, "`"+o.Name+"`")
		}
	}
	return names
}

// askFirst returns the beginning of a sentence about operations that need confirmation.
func askFirst(names []string) string {
	if len(names) == 1 {
		return names[0] + " asks first"
	}
	if most := 5; len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " ask first"
}

// signature returns an operation like a function, with defaults, and question marks for optional parameters.
func signature(o *gen.Operation) string {
	var params []string
	for i := range o.Params {
		p := &o.Params[i]
		text := p.Name
		switch {
		case p.Default != "" && len(p.Default) <= 20 && !strings.Contains(p.Default, "`"):
			text += " = " + p.Default
		case !p.Required:
			text += "?"
		}
		params = append(params, text)
	}
	result := ""
	if o.Returns.Name != "" && o.Returns.Name != "Nothing" {
		result = " → " + o.Returns.Name
	}
	return o.Name + "(" + strings.Join(params, ", ") + ")" + result
}

func about(o *gen.Operation) string {
	text := words.FirstSentence(o.Description)
	if o.Danger.Level() > 0 {
		text += " [" + string(o.Danger) + "]"
	}
	switch {
	case o.Replacement != "":
		text += " [deprecated: use `" + o.Replacement + "`]"
	case o.Deprecated != "":
		text += " [deprecated]"
	}
	return strings.TrimSpace(text)
}
