package policy

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Form is how the handler of an operation sees the values of a parameter, or of a part of one. A type may read many
// spellings as one value: "::ffff:127.0.0.1" and "127.0.0.1", or "INFO" and "info". The canonical form of a value is
// how the adapter itself writes it.
type Form struct {
	// Path is the path to the values, with the names of fields in place of aliases, and with the keys of maps in their
	// canonical form.
	Path []string
	// Zero is the canonical form of the value that the handler may see where a request gives none, as JSON; empty: there
	// is none.
	Zero string
	// Canonical returns the canonical form, as JSON, of a value that is given as JSON, and Unjudged for a value that
	// cannot be judged. It returns false if there is no such value.
	Canonical func(json string) (canonical string, ok bool)
}

// Forms finds the form of the values at a path in the parameters of an operation. In the path, * stands for the
// elements of an array, or for the values of a map. It fails if the path leads to nothing.
type Forms func(operation string, path []string) (Form, error)

// Unjudged is the canonical form of a value of which nothing tells how a handler sees it, because its type does not
// read back what it writes. Tests of such a value have an unknown result.
const Unjudged = wire.Unjudged

// useForm makes the route lead to the canonical form of values.
func (r *route) useForm(form Form) {
	r.form, r.fallback = &form, ""
	for i := range r.steps {
		s := &r.steps[i]
		s.absent = ""
		if s.names != nil {
			s.names = []string{form.Path[i+1]}
		}
	}
}

// verdict is what a form says about a literal.
type verdict uint8

const (
	fits     verdict = iota // it is in the canonical form
	differs                 // it is another spelling of a value
	noValue                 // it is no value of the parameter
	unjudged                // values cannot be judged
)

// canonical returns a literal in the canonical form of the values at the route's end.
func (r *route) canonical(key string, l literal) (literal, verdict) {
	text := l.text
	if l.kind == textKind {
		text = quoted(l.text)
	}
	canonical, ok := r.form.Canonical(text)
	if !ok {
		return l, noValue
	}
	value, ok := r.kind.read(canonical)
	switch {
	case !ok || canonical == Unjudged:
		return literal{kind: opaqueKind, text: l.text}, unjudged
	case orders(key) && value.kind != l.kind:
		return l, noValue
	case value.kind != l.kind,
		l.kind == textKind && r.kind != momentKind && value.text != l.text,
		l.kind == numberKind && value.number.Compare(l.number) != 0:
		return value, differs
	}
	return value, fits
}

// quoted returns a text as JSON.
func quoted(text string) string {
	w := wire.NewWriter(nil)
	w.String(text)
	return string(w.Bytes())
}

// checkForms refuses values that none of the operations can have, and warns of those that are not in their canonical
// form, and of those that cannot be judged.
func (f *findings) checkForms(part Part, c *Condition, routes []route) {
	c.eachValue(func(key string, item int, value any) {
		l, _ := newLiteral(value)
		verdicts := make(map[verdict]literal)
		for i := range routes {
			if routes[i].form != nil && !routes[i].mayBeZero(l) {
				canonical, v := routes[i].canonical(key, l)
				verdicts[v] = canonical
			}
		}
		at := part.sibling(key).item(item)
		different, isOther := verdicts[differs]
		_, isNone := verdicts[noValue]
		_, isUnjudged := verdicts[unjudged]
		switch {
		case isNone && len(verdicts) == 1 && !orders(key) && !strings.HasPrefix(key, "not_"):
			f.add(at, "%s: %s is no value of %s, so that the test would never hold", key, l, c.Param)
		case isUnjudged:
			f.warn(at, "%s: values of %s cannot be judged, because their type does not read back what it writes: every "+
				"call counts as if the test were against it", key, c.Param)
		case isOther:
			f.warn(at, "%s: handlers see %s as %s; write that", key, l, different)
		case isNone && !orders(key):
			f.warn(at, "%s: %s is no value of %s", key, l, c.Param)
		}
	})
}

// mayBeZero reports whether a literal is what a handler may see where a request gives no value, so that a test of it is
// meant even if no request can give it.
func (r *route) mayBeZero(l literal) bool {
	zero, ok := r.zero()
	return ok && zero.kind == l.kind && zero.text == l.text
}

// zero returns the value that a handler may see in place of an absent one; false: there is none.
func (r *route) zero() (literal, bool) {
	switch {
	case r.form == nil, r.kind == momentKind && r.form.Zero == `""`:
		return r.kind.zero()
	case r.form.Zero == "":
		return literal{}, false
	}
	zero, ok := r.kind.read(r.form.Zero)
	if !ok {
		return literal{kind: opaqueKind}, true // which compares as unknown
	}
	return zero, true
}

// checkSpelling warns of values in a well-known format that are not in its canonical form, where no forms are known.
func (f *findings) checkSpelling(part Part, c *Condition, routes []route) {
	c.eachValue(func(key string, item int, value any) {
		l, _ := newLiteral(value)
		for i := range routes {
			if canonical, ok := wellKnown(routes[i].format, l.text); ok && canonical != l.text {
				f.warn(part.sibling(key).item(item), "%s: unless the type of %s is a plain string, handlers see %s as %s",
					key, c.Param, l, strconv.Quote(canonical))
				return
			}
		}
	})
}

// wellKnown returns the canonical form of a text in a format; false: the format is not known, or the text has another.
func wellKnown(format, text string) (string, bool) {
	switch format {
	case "uuid":
		return strings.ToLower(text), true
	case "ip":
		a, err := netip.ParseAddr(text)
		return a.Unmap().String(), err == nil
	case "cidr":
		p, err := netip.ParsePrefix(text)
		return p.String(), err == nil
	}
	return "", false
}
