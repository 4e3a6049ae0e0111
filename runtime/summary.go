package aql

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/collection"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// summarise takes in the summaries that a request wants. It returns false where it has reported one of nothing.
func (a *asking) summarise(c *handled, r *wire.Reader) bool {
	labels := a.query.Labels(c.place)
	a.bound.Wanted = make([]collection.Wanted, len(labels))
	ok := true
	for i := range labels {
		l := &labels[i]
		if !l.Count && l.Sum == "" && l.Avg == "" && l.Min == "" && l.Max == "" {
			r.Refused("aggregate."+l.Label, "one or more of "+strings.Join(a.query.Functions(c.mask), ", "), "{}", "")
			ok = false
		}
		a.bound.Wanted[i] = a.query.Wanted(l)
	}
	return ok
}

func (a *asking) grouped() int {
	n := 0
	for i := range a.bound.Wanted {
		if a.bound.Wanted[i].By != nil {
			n++
		}
	}
	return n
}

// withoutItems makes the answer one without items. Parameters that say which items it has, and in which order, are
// ignored.
func (a *asking) withoutItems(gives func(name string) bool) {
	for _, name := range append([]string{"sort"}, a.query.Paging().Params()...) {
		if gives(name) {
			a.ignored = append(a.ignored, name)
		}
	}
	a.bound.Order, a.bound.Itemless = nil, true
}

// ignoredPaging is the warning about parameters of items that the answer does not have.
func ignoredPaging(params []string) Warning {
	return Warning{
		Code: "VALIDATION_IGNORED_PARAM_WARNING", Severity: SeverityLow,
		Message: "The answer has summaries and no items, so these parameters were ignored: " + strings.Join(params, ", "),
		details: []detail{
			{"ignored_params", params}, {"hint", `Add "include_items":true to get a page beside the summaries`},
		},
	}
}

// tooManyGroups is the failure of a summary whose groups would not end.
func tooManyGroups(limit int) *Error {
	f := tooLarge("aggregate_groups", limit, limit+1, "groups")
	f.Message += "; narrow the filter, or group by a field with fewer values"
	return f
}

// aggregations returns the answers to summaries by their labels (MCP-AQL aggregations §3).
func aggregations(answers []collection.Summed) (map[string]json.RawMessage, error) {
	if len(answers) == 0 {
		return nil, nil
	}
	all := make(map[string]json.RawMessage, len(answers))
	for i := range answers {
		s := &answers[i]
		w := wire.NewWriter(nil)
		if s.By == nil {
			writeGroup(w, s.Wanted, s.Groups[0])
		} else {
			w.BeginObject()
			for _, g := range s.Groups {
				w.KeyEscaped(g.Name)
				writeGroup(w, s.Wanted, g)
			}
			w.EndObject()
		}
		if err := w.Err(); err != nil {
			return nil, err
		}
		all[s.Label] = w.Bytes()
	}
	return all, nil
}

// writeGroup writes what a group amounts to: the value of the only function that is wanted, or an object of several.
func writeGroup(w *wire.Writer, of *collection.Wanted, g *collection.Group) {
	functions := []struct {
		name   string
		wanted bool
		write  func()
	}{
		{"count", of.Count, func() { w.Int(int64(g.Count)) }},
		{"sum", of.Sum != nil, func() { writeNumber(w, g.Sum.Sum()) }},
		{"avg", of.Avg != nil, func() { writeNumber(w, g.Avg.Mean()) }},
		{"min", of.Min != nil, func() { writeValue(w, of.Min, &g.Min) }},
		{"max", of.Max != nil, func() { writeValue(w, of.Max, &g.Max) }},
	}
	several := 0
	for i := range functions {
		if functions[i].wanted {
			several++
		}
	}
	if several > 1 {
		w.BeginObject()
		defer w.EndObject()
	}
	for i := range functions {
		f := &functions[i]
		if !f.wanted {
			continue
		}
		if several > 1 {
			w.Key(f.name)
		}
		f.write()
	}
}

// writeNumber writes a sum or an average: as a string where it is an integer that not all readers of JSON hold exactly
// (MCP-AQL core §4.7.3).
func writeNumber(w *wire.Writer, number any) {
	switch v := number.(type) {
	case int64:
		if v < -wire.MaxSafeInteger || v > wire.MaxSafeInteger {
			number = strconv.FormatInt(v, 10)
		}
	case float64:
		writeFloat(w, v, 64)
		return
	}
	w.Any(number)
}

// writeFloat writes a number, and null for one that JSON does not have: it would take the other summaries their answer.
func writeFloat(w *wire.Writer, v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.Null()
		return
	}
	w.Float(v, bits)
}

// writeValue writes a value of a field as items have it, and null where it is a number that these cannot have.
func writeValue(w *wire.Writer, f *collection.Field, v *collection.Value) {
	switch {
	case v.Missing:
		w.Null()
	case f.Kind == collection.Bool:
		w.Bool(v.Int != 0)
	case f.Kind == collection.Int:
		w.Int(v.Int)
	case f.Kind == collection.Uint:
		w.Uint(uint64(v.Int))
	case f.Kind == collection.Float:
		writeFloat(w, v.Float, f.Bits)
	case f.Kind == collection.Time:
		w.Time(v.Time)
	default:
		w.String(v.Text)
	}
}
