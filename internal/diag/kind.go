package diag

import (
	"math"
	"slices"
)

// Kind is what many diagnostics of a package may have in common, in the plural: a heading for all of them.
type Kind string

// The kinds.
const (
	KindSecret      Kind = "results that show what their names call a secret"
	KindContradicts Kind = "danger levels that contradict the category"
	KindGuessed     Kind = "operations whose category and danger nobody has reviewed"
	KindReplaces    Kind = "updates that replace what they leave out"
	KindReason      Kind = "destructive operations without a reason"
	KindDanger      Kind = "operations that only their names make dangerous"
	KindCategory    Kind = "names that say another category than that of the operation"
	KindWide        Kind = "identifiers of 64 bits that travel as numbers"
	KindUnset       Kind = "fields of updates that are set to nothing where a request leaves them out"
	KindUnsetEnum   Kind = "optional enums that reach the handler as an empty text"
	KindShared      Kind = "parameters that differ from those of the same name"
	KindStandard    Kind = "parameters that have a name of the protocol and another type"
	KindOwnJSON     Kind = "types of whose values agents see only that they are any"
	KindLeak        Kind = "texts that messages leave out"
	KindDryRun      Kind = "dry runs that are confirmed like other calls"
	KindQuery       Kind = "lists that agents cannot filter, sort and page"
	KindLoop        Kind = "loaders that ask for one key at a time"
	KindUnreached   Kind = "relations that no request can follow"
	KindRest        Kind = "relations to many whose rest nobody can list"
	KindDrift       Kind = "orders by what changes with the time"
	KindRule        Kind = "rules of other libraries that need a look"
	KindVerb        Kind = "operations with the verb behind the resource"
	KindOperation   Kind = "operations without a description"
	KindDescription Kind = "parameters without a description"
	KindExample     Kind = "operations without an example"
)

// kinds has the kinds from bad to harmless. Diagnostics of none of them are where the empty one is.
var kinds = []Kind{
	KindSecret, KindContradicts, KindGuessed, KindReplaces, KindReason, KindDanger, KindCategory, "", KindWide, KindUnset,
	KindUnsetEnum, KindShared, KindStandard, KindOwnJSON, KindLeak, KindDryRun, KindQuery, KindLoop,
	KindUnreached, KindRest, KindDrift, KindRule, KindVerb, KindOperation, KindDescription, KindExample,
}

// weight orders kinds from bad to harmless.
func (k Kind) weight() int { return slices.Index(kinds, k) }

// groupedFrom is how many diagnostics of a kind are one entry. What is merely missing is told as well in a group.
func (k Kind) groupedFrom() int {
	switch k {
	case "":
		return math.MaxInt
	case KindOperation, KindDescription, KindExample:
		return 2
	}
	return 4
}

// weight orders severities from bad to harmless.
func (s Severity) weight() int { return slices.Index([]Severity{Error, Warning, Note}, s) }
