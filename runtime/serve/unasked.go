package serve

import (
	"log/slog"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
)

// warnOfNobody warns of operations before which a person types a value, where no person can be asked, or only those
// whose clients ask their user. confirmation is that of the adapter.
func warnOfNobody(
	registry *aql.Registry, adapter *aql.Adapter, confirmation aql.Confirmation, options Options, log *slog.Logger,
) {
	if confirmation.Inbox != nil {
		return
	}
	var typed []string
	for _, o := range registry.Operations() {
		if o.TypeToConfirm != "" && adapter.Tool(o.Name) != "" {
			typed = append(typed, o.Name)
		}
	}
	if len(typed) == 0 {
		return
	}
	what := "Nobody can call operations before which a person types a value, because nobody can be asked"
	if options.MCP.Elicit {
		what = "Only clients that ask their user can call operations before which a person types a value"
	}
	cure := "start the adapter with -state, so that their requests wait for operator approve"
	if options.Operator == nil {
		cure = "add Operator to the options of the service, and start it with -state, so that their requests wait for " +
			"operator approve"
	}
	log.Warn(what, "operations", strings.Join(typed, ", "), "cure", cure)
}
