// Package words tells what must not reach an agent in a message: the patterns of the protocol's conformance runner
// (requirements REQ-ER-14, T-29), as they stand, and Go's own spellings of the same things.
package words

import "regexp"

var patterns = regexp.MustCompile(`(?i)typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/|\.ts:\d|\.js:\d` +
	`|\.go:\d|goroutine \d|runtime error|panic:|\b(?:sql|json|strconv|context|net|os|fs|io): |/(?:home|root|usr|var|etc|tmp)/`)

// Find returns the first part of a text that must not be shown, empty if there is none. The patterns have no word
// boundaries: "What has" is found for its "at has".
func Find(text string) string { return patterns.FindString(text) }
