package conform

import "slices"

// evidence holds what checks record for the bundle, and for later checks.
type evidence struct {
	accepted    map[string][]string
	missing     []parameterCase
	unknown     []parameterCase
	defaults    []defaultCase
	failures    []errorCase
	roundTrips  []roundTripCase
	preserved   []preservedCase
	constraints []constraintCase
	refusals    []refusedViolation
	batch       *exchange
	results     []map[string]any // of the batch; nil: its answer has none
	otherMode   bool
}

// addAccepted records that an operation accepts a parameter.
func (e *evidence) addAccepted(o *operation, name string) {
	if e.accepted == nil {
		e.accepted = map[string][]string{}
	}
	if !slices.Contains(e.accepted[o.Name], name) {
		e.accepted[o.Name] = append(e.accepted[o.Name], name)
	}
}

func (e *evidence) addMissing(o *operation, name string, x *exchange) {
	e.missing = append(e.missing, parameterCase{o.Name, name, x.response()})
}

func (e *evidence) addUnknown(o *operation, name string, x *exchange) {
	e.unknown = append(e.unknown, parameterCase{o.Name, name, x.response()})
}

func (e *evidence) addDefault(o *operation, name, path string, value any, x *exchange) {
	e.defaults = append(e.defaults, defaultCase{o.Name, name, path, value, x.response()})
}

func (e *evidence) addFailure(name, mention string, x *exchange) {
	e.failures = append(e.failures, errorCase{name, []string{mention}, x.response()})
}

func (e *evidence) addRoundTrip(name string, expected map[string]any, x *exchange) {
	if len(expected) > 0 {
		e.roundTrips = append(e.roundTrips, roundTripCase{name, expected, x.response()})
	}
}

func (e *evidence) addPreserved(name string, fields map[string]any, x *exchange) {
	if len(fields) > 0 {
		e.preserved = append(e.preserved, preservedCase{name, fields, x.response()})
	}
}

func (e *evidence) addConstraint(name string, x *exchange) {
	e.constraints = append(e.constraints, constraintCase{name, true, x.response()})
}
