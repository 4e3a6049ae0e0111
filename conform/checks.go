package conform

// checks lists all checks in the order they are made in: what can do no harm comes first, and what looks at every answer of
// the run comes last.
func checks() []check {
	var all []check
	for _, group := range [][]check{
		introspectionChecks(), toolChecks(), parameterChecks(), constraintChecks(), endpointChecks(), batchChecks(), fieldChecks(),
		pageChecks(), roundTripChecks(), updateChecks(), confirmationChecks(), answerChecks(),
	} {
		all = append(all, group...)
	}
	return all
}

// About is what there is to know about a check before it is made.
type About struct {
	Name, Title  string
	Requirements []string
	Level        Level
	Tier         int // the conformance level from which on the check is made
	Category     Category
}

// Checks lists all checks in the order they are made in.
func Checks() []About {
	var all []About
	for _, c := range checks() {
		all = append(all, About{c.name, c.title, c.requirements, c.level, c.tier, c.category})
	}
	return all
}
