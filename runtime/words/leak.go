package words

import "regexp"

// leaks are the patterns of the protocol's conformance runner as they stand there, and Go's own spellings of the same
// things.
var leaks = regexp.MustCompile(`(?i)typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/` +
	`|\.ts:\d|\.js:\d|\.go:\d|goroutine \d|runtime error|panic:|\b(?:sql|json|strconv|context|net|os|fs|io): ` +
	`|/(?:home|root|usr|var|etc|tmp)/`)

// Leak returns the first part of text that a message to an agent must not contain, such as a path, a stack trace or the
// text of a Go error; empty if there is none (MCP-AQL error codes, security of messages). The patterns have no word
// boundaries: in "What has" it finds "at has".
func Leak(text string) string { return leaks.FindString(text) }
