package tagparse

import (
	"slices"
	"strings"
)

// directiveForm is a form of a directive. The table of forms feeds the parser, its suggestions and the documentation.
type directiveForm struct {
	name  string // of the directive; of a further form of it, with a word behind
	usage string // what a suggestion shows
	shown string // what the documentation shows, where that is more than usage
	doc   string // Markdown, as in docs/tags.md
}

var directiveForms = []directiveForm{
	{
		name: "op", usage: "//aql:op category=READ",
		doc: "makes an operation of a function whose request struct has no tag",
	},
	{
		name: "adopt", usage: "//aql:adopt (*client.Notes).List category=READ",
		shown: "//aql:adopt (*client.Notes).Get category=READ",
		doc: "makes an operation of a function that is declared elsewhere: [adopted " +
			"functions](#adopted-functions)",
	},
	{
		name: "param", usage: "//aql:param NAME min=1",
		shown: "//aql:param NAME min=1,max=9",
		doc:   "keys of a parameter whose field cannot be tagged, or of a plain argument",
	},
	{
		name: "example", usage: `//aql:example {"name":"value"} What it shows`,
		shown: "//aql:example JSON text",
		doc:   "a request that agents see; it is validated when the code is generated",
	},
	{
		name: "reason", usage: "//aql:reason text",
		doc: "why the operation is dangerous",
	},
	{
		name: "confirm", usage: "//aql:confirm Delete '{name}'?",
		shown: "//aql:confirm Delete '{note_id}'?",
		doc: "the question before the operation runs; `{…}` is a parameter, which stands between “ and ” " +
			"where its end could not be seen",
	},
	{
		name: "confirm type", usage: "//aql:confirm type={name} Delete '{name}'?",
		shown: "//aql:confirm type={note_id} Delete '{note_id}'?",
		doc: "the same, and a person types the value of `note_id` before the operation runs: [type to " +
			"confirm](approvals.md#type-to-confirm); the question may be absent",
	},
	{
		name: "update", usage: "//aql:update get=NAME",
		shown: "//aql:update get=GetNote",
		doc:   "merges an update into what the named handler reads: [updates](#updates)",
	},
	{
		name: "names", usage: "//aql:names verbatim",
		doc: "keeps the names of `json` tags below the parameters of a package: " +
			"[names](#names-and-descriptions)",
	},
	{
		name: "type", usage: "//aql:type PACKAGE.TYPE string,pattern='^[a-z]+$'",
		shown: "//aql:type PACKAGE.TYPE string,…",
		doc:   "what the values of a type are: [types that write themselves](#types-that-write-themselves)",
	},
	{
		name: "hide", usage: "//aql:hide TYPE.FIELD",
		shown: "//aql:hide PACKAGE.TYPE.FIELD",
		doc:   "removes a field of any type from requests and results: [secrets](#secrets)",
	},
	{
		name: "computed", usage: "//aql:computed text",
		shown: "//aql:computed filter,sort",
		doc: "makes a field of a method or of a function: [computed " +
			"fields](collections.md#computed-fields)",
	},
	{
		name: "relation", usage: "//aql:relation TYPE.NAME by=FIELD,to=OPERATION",
		doc: "makes a function load a relation: [relations](#relations)",
	},
	{
		name: "nolint", usage: "//aql:nolint text",
		shown: "//aql:nolint reason",
		doc: "removes warnings and notes, never errors: [silencing a " +
			"warning](diagnostics.md#silencing-a-warning)",
	},
}

// directives are the names of the directives.
var directives = namesOf(directiveForms)

func namesOf(forms []directiveForm) []string {
	var names []string
	for _, form := range forms {
		if !strings.Contains(form.name, " ") {
			names = append(names, form.name)
		}
	}
	return names
}

// usage is what a suggestion shows of a directive, or of a further form of it, such as "confirm type".
func usage(name string) string {
	i := slices.IndexFunc(directiveForms, func(f directiveForm) bool { return f.name == name })
	return directiveForms[i].usage
}
