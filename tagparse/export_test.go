package tagparse

// DirectiveRows returns the rows of the table of directives in docs/tags.md.
func DirectiveRows() string {
	rows := ""
	for _, form := range directiveForms {
		shown := form.shown
		if shown == "" {
			shown = form.usage
		}
		rows += "| `" + shown + "` | " + form.doc + " |\n"
	}
	return rows
}
