package comment

import (
	"go/ast"
	"regexp"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// longestPackage is how many characters of a sentence are taken for the description of a package.
const longestPackage = 300

// Package returns what the comment of a package says that it is, in one sentence: "Package todo keeps todos." becomes
// "Keeps todos.". The sentence is the first of the paragraph that begins with "Package NAME" or "Command NAME", or else
// of the comment, unless that is about rights.
func Package(comment *ast.CommentGroup, name string) string {
	if comment == nil {
		return ""
	}
	text := paragraphs(withoutMarkers(words.WithoutControls(comment.Text())))
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		subject := "Package " + name
		if words := strings.Fields(paragraph); len(words) > 1 && words[0] == "Command" {
			subject = "Command " + words[1]
		}
		if rest, ok := strings.CutPrefix(paragraph, subject); ok && strings.Trim(rest, ".") == "" {
			return ""
		} else if ok && strings.HasPrefix(rest, " ") {
			return sentence(withoutName(paragraph, subject))
		}
	}
	if rights.MatchString(text) {
		return ""
	}
	return sentence(text)
}

// rights matches texts above a package clause that are about a file, not about the package.
var rights = regexp.MustCompile(`(?i)copyright|licen[cs]e|SPDX|all rights reserved|code generated`)

func sentence(text string) string { return words.Clip(words.FirstSentence(text), longestPackage) }
