package aql

import "regexp"

// leaks matches text that must not reach an agent: the eight patterns of the protocol's conformance runner (requirements
// REQ-ER-14, T-29), as they stand, and Go's own spellings of the same things.
var leaks = regexp.MustCompile(`(?i)typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/|\.ts:\d|\.js:\d` +
	`|\.go:\d|goroutine \d|runtime error|panic:|\b(?:sql|json|strconv|context|net|os|fs|io): |/(?:home|root|usr|var|etc|tmp)/`)
