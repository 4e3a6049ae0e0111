package describe

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// longestDescription is how many characters of what the service is are shown to models, and longestDomain how many of
// its sentences the tool for all operations has.
const (
	longestDescription = 1000
	longestDomain      = 100
)

// waits says what to do about a request that waits in the inbox.
const waits = "If an answer has an approval_id, an operator was asked: tell the user, and send exactly the same " +
	"request again later, or of a batch what has not run. It runs once it is approved."

// Instructions returns one page for models: what the service is, and how to discover operations, send several requests
// at once, select fields, page and confirm, each as far as the service has it.
func (s Surface) Instructions(a *gen.Definitions, p Protocol) string {
	lines := []string{title(a)}
	if a.Description != "" {
		lines[0] += ": " + words.Clip(strings.Join(strings.Fields(a.Description), " "), longestDescription)
	}
	if s.Mode != Discrete {
		lines = append(lines, "Tools take { operation, params }, and for several requests at once "+
			"{ operations: [{ operation, params }, …] }.")
	}
	lines = append(lines, `Discover with introspect: params { query: "operations" } lists operations, `+
		`{ query: "operations", search: "words for the task" } finds some, `+
		`{ query: "operations", name: "…" } shows one with its parameters, { query: "types" } lists types.`)
	if a.SelectsFields() {
		lines = append(lines, "Where an operation has the parameter fields, name the fields of the result you need.")
	}
	if slices.ContainsFunc(a.Operations, isPaged) {
		lines = append(lines, "Where it has first and after, read a page at a time: after is the cursor of the page before.")
	}
	switch {
	case p.HumanOnly && p.Inbox:
		lines = append(lines, "What needs an approval is put to a person before it runs. "+waits)
	case p.HumanOnly:
		lines = append(lines, "What needs an approval is put to the user before it runs. "+
			"If nobody can be asked, it is denied.")
	case p.Capabilities.Confirmation:
		lines = append(lines, "If an answer is CONFIRMATION_REQUIRED, ask the user. After a yes, send the same request "+
			"again, with confirmation_token from the answer in its params.")
		if p.Inbox {
			lines = append(lines, waits)
		}
	}
	switch p.Capabilities.ExecutionSafetyLoop {
	case "enforcing", "monitoring":
		lines = append(lines, reports)
	}
	return strings.Join(lines, "\n")
}

// reports says what the execution safety loop asks of a model (MCP-AQL core §8.6.2 to §8.6.5).
const reports = "Work of several steps runs in a safety loop. Start it with execute_agent, which a person approves. " +
	"From then on report each action with record_execution_step before you take it: every tool call here or on another " +
	"server, every command, file and request. Take it only if continue is true. If continue is false, tell the user " +
	"why and wait; report the same action again when a person has approved. If stopped is true, do nothing more at " +
	"all. If the answer is lost, send the same report with the same _request_id. End with complete_execution or " +
	"abort_execution."

// isPaged reports whether an operation has the parameters of pages.
func isPaged(o gen.Operation) bool {
	_, first := o.Param("first")
	_, after := o.Param("after")
	return first && after
}

// domain returns what the service is, in as many sentences as are short enough, with a blank behind them; empty:
// nothing says it.
func domain(a *gen.Definitions) string {
	rest := strings.Join(strings.Fields(a.Description), " ")
	if rest == "" {
		return ""
	}
	said := words.FirstSentence(rest)
	for end := len(said); end < len(rest); {
		next := " " + words.FirstSentence(rest[end:])
		if end += len(next); utf8.RuneCountInString(rest[:end]) > longestDomain {
			break
		}
		said = rest[:end]
	}
	said = words.Clip(said, longestDomain)
	if !strings.HasSuffix(said, ".") && !strings.HasSuffix(said, "…") {
		said += "."
	}
	return said + " "
}
