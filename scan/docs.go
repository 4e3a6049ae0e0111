package scan

import (
	"go/ast"
	"strings"
)

// describe is the description that a comment gives to the thing called name: directives removed, lines of a paragraph
// joined, and a leading name dropped, so that "CreateTodo adds a todo." reads "Adds a todo.".
func describe(comment *ast.CommentGroup, name string) string {
	if comment == nil {
		return ""
	}
	text := paragraphs(comment.Text())
	rest, ok := strings.CutPrefix(text, name)
	if !ok || name == "" || !strings.HasPrefix(rest, " ") {
		return text
	}
	rest = strings.TrimLeft(rest, " ")
	for _, copula := range []string{"is ", "are "} {
		if noun, ok := strings.CutPrefix(rest, copula); ok && startsNoun(noun) {
			rest = noun
			break
		}
	}
	return exported(rest)
}

// startsNoun reports whether "Todo is …" may lose its verb: "Todo is a thing to do." reads well as "A thing to do.".
func startsNoun(s string) bool {
	for _, word := range []string{"a ", "an ", "the ", "one ", "something ", "anything ", "everything ", "what ", "how ", "where ", "when ", "who ", "whether "} {
		if strings.HasPrefix(s, word) {
			return true
		}
	}
	return false
}

// paragraphs joins the lines of each paragraph; indented lines and list items stay lines of their own.
func paragraphs(text string) string {
	var out []string
	joinable := false
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimSpace(line)
		own := trimmed == "" || trimmed != line || strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ")
		if joinable && !own {
			out[len(out)-1] += " " + trimmed
			continue
		}
		out = append(out, line)
		joinable = trimmed != "" && trimmed == line
	}
	return strings.Join(out, "\n")
}
