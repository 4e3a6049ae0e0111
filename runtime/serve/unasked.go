package serve

import (
	"log/slog"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
)

// addOperator begins what cures a service in which nothing can wait for people.
const addOperator = "add Operator to the options of the service, and start it with -state, so that "

// warnOfNobody warns where no person can be asked, or only those whose clients ask their user: of -human-only in a
// service without the subcommand operator, and of operations before which a person types a value. confirmation is that
// of the adapter.
func warnOfNobody(
	registry *aql.Registry, adapter *aql.Adapter, confirmation aql.Confirmation, options Options, log *slog.Logger,
) {
	if confirmation.Inbox != nil {
		return
	}
	if confirmation.HumanOnly && options.Operator == nil {
		what := "Nobody can confirm, because nobody can be asked: what requires confirmation is denied"
		if options.MCP.Elicit {
			what = "Only clients that ask their user can confirm: what requires confirmation is denied to others"
		}
		log.Warn(what, "cure", addOperator+"requests wait for operator approve")
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
		cure = addOperator + "their requests wait for operator approve"
	}
	log.Warn(what, "operations", strings.Join(typed, ", "), "cure", cure)
}
