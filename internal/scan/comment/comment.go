// Package comment turns Go doc comments into descriptions for agents.
package comment

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/runtime/words"
)

// Describe returns the description that a comment gives of name. It removes directives and markers, joins the lines of
// each paragraph, and drops a leading name: "CreateTodo adds a todo." becomes "Adds a todo.".
func Describe(comment *ast.CommentGroup, name string) string {
	if comment == nil {
		return ""
	}
	return withoutName(paragraphs(withoutMarkers(words.WithoutControls(comment.Text()))), name)
}

// withoutName drops the name with which a text begins.
func withoutName(text, name string) string {
	rest, ok := strings.CutPrefix(text, name)
	if !ok || name == "" || !strings.HasPrefix(rest, " ") {
		return text
	}
	rest = strings.TrimLeft(rest, " ")
	first, _, _ := strings.Cut(strings.ReplaceAll(rest, "\n", " "), " ")
	first = strings.TrimRight(first, ".,:;")
	if slices.Contains(prepositions, first) ||
		isImperative(rest) || slices.Contains(verbs, name) && !strings.HasSuffix(first, "s") {
		return text
	}
	for _, copula := range []string{"is ", "are "} {
		if noun, ok := strings.CutPrefix(rest, copula); ok && startsNoun(noun) {
			rest = noun
			break
		}
	}
	return naming.Exported(rest)
}

// prepositions may follow a name that is only a word of the sentence: "Name of the branch" is not about Name.
var prepositions = []string{"of", "for", "to", "in", "on", "at", "by", "from", "with", "without", "and", "or"}

// verbs are names that are the verb of a sentence where no other follows: "List all notes.", but not "List returns …".
var verbs = []string{
	"Add", "Cancel", "Create", "Delete", "Edit", "Find", "Get", "List", "Query", "Read", "Remove", "Search", "Send", "Set",
	"Start", "Stop", "Update",
}

// isImperative reports whether the name before a text is the verb of its sentence: "Get a note." says what Get does.
func isImperative(rest string) bool {
	return slices.ContainsFunc([]string{"a ", "an ", "the ", "("}, func(start string) bool {
		return strings.HasPrefix(rest, start)
	})
}

// Synopsis returns the first paragraph of a description. In other modules, what follows it is for programmers.
func Synopsis(text string) string {
	first, _, _ := strings.Cut(text, "\n\n")
	return first
}

// startsNoun reports whether "Todo is …" may lose its verb: "Todo is a thing to do." reads well as "A thing to do.".
func startsNoun(s string) bool {
	for _, word := range []string{
		"a ", "an ", "the ", "one ", "something ", "anything ", "everything ", "what ", "how ", "where ", "when ", "who ",
		"whether ",
	} {
		if strings.HasPrefix(s, word) {
			return true
		}
	}
	return false
}

// withoutMarkers removes the lines that other programs read: markers such as +optional and +kubebuilder:validation:…,
// annotations such as @Summary and swagger:model, and directives with a blank in front, such as nolint:errcheck.
func withoutMarkers(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !marker.MatchString(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

var marker = regexp.MustCompile(`^(\+[A-Za-z]|@[A-Z][A-Za-z.]*(\s|$)|swagger:[a-z]|nolint(:|\s*$)|[a-z]+:generate\s)`)

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
