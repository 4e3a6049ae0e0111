package conform

import "slices"

// evidence is what checks keep for the bundle.
type evidence struct {
	accepted    map[string][]string
	missingList []parameterCase
	unknownList []parameterCase
	defaultList []defaultCase
	errorList   []errorCase
	tripList    []tripCase
	keptList    []keptCase
	constrained []constraintCase
	told        []told
	batch       *exchange
	otherMode   bool
}

// accept notes that an operation takes a parameter.
func (e *evidence) accept(o *operation, name string) {
	if e.accepted == nil {
		e.accepted = map[string][]string{}
	}
	if !slices.Contains(e.accepted[o.Name], name) {
		e.accepted[o.Name] = append(e.accepted[o.Name], name)
	}
}

func (e *evidence) missing(o *operation, name string, x *exchange) {
	e.missingList = append(e.missingList, parameterCase{o.Name, name, x.response()})
}

func (e *evidence) unknown(o *operation, name string, x *exchange) {
	e.unknownList = append(e.unknownList, parameterCase{o.Name, name, x.response()})
}

func (e *evidence) defaulted(o *operation, name, path string, value any, x *exchange) {
	e.defaultList = append(e.defaultList, defaultCase{o.Name, name, path, value, x.response()})
}

func (e *evidence) failure(name, mention string, x *exchange) {
	e.errorList = append(e.errorList, errorCase{name, []string{mention}, x.response()})
}

func (e *evidence) roundTrip(name string, expected map[string]any, x *exchange) {
	if len(expected) > 0 {
		e.tripList = append(e.tripList, tripCase{name, expected, x.response()})
	}
}

func (e *evidence) preserved(name string, fields map[string]any, x *exchange) {
	if len(fields) > 0 {
		e.keptList = append(e.keptList, keptCase{name, fields, x.response()})
	}
}

func (e *evidence) constraint(name string, x *exchange) {
	e.constrained = append(e.constrained, constraintCase{name, true, x.response()})
}
