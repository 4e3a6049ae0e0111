package sqlquery

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// key is a field by which a statement orders.
type key struct {
	collection.Key
	column   *column
	missable bool
	ranks    string // an expression that is the place of an enum's value among its constants; empty: it is none
	of       int    // the index of the key in the order of the request
}

// keysOf returns the keys of an order; false: the database cannot order so. The field of an enum has two: values that
// are none of its constants are behind them, in the order of their texts.
func keysOf(d Dialect, columns columns, order collection.Order) (keys []key, ok bool) {
	for i, k := range order {
		column := columns.of(k.Field.Name)
		if column == nil || column.List != "" {
			return nil, false
		}
		key := key{Key: k, column: column, missable: k.Field.Missable(), of: i}
		if k.Field.Ranks != nil {
			if key.ranks, ok = ranksOf(d, column, k.Field); !ok {
				return nil, false
			}
			keys = append(keys, key)
			key.ranks = ""
		}
		keys = append(keys, key)
	}
	return keys, len(keys) > 0
}

// ranksOf returns an expression that is the place of a value among the constants of an enum; false: a text of SQL can
// not hold one of them without an escape.
func ranksOf(d Dialect, column *column, f *collection.Field) (ranks string, ok bool) {
	var out strings.Builder
	expr := column.expr
	if column.isText(f) {
		expr = d.bytes(expr)
	}
	out.WriteString("CASE " + expr)
	for i, constant := range f.Ranks {
		if strings.ContainsAny(constant, "'\\\x00?$") || column.Encode != nil {
			return "", false
		}
		out.WriteString(" WHEN '" + constant + "' THEN " + strconv.Itoa(i))
	}
	out.WriteString(" ELSE " + strconv.Itoa(len(f.Ranks)) + " END")
	return out.String(), true
}

// place is a position, and the side of it where the page is.
type place struct {
	keys     []key
	at       []collection.Value // nil: there is none
	backward bool
}

// ordered writes the keys of an order.
func (w *writer) ordered(p place) {
	for i := range p.keys {
		if i > 0 {
			w.text.WriteString(", ")
		}
		k := &p.keys[i]
		expr, descending := k.column.expr, k.Descending != p.backward
		if k.ranks != "" {
			expr = k.rank()
		} else {
			if k.column.isText(k.Field) {
				expr = w.dialect.bytes(expr)
			}
		}
		direction := ""
		if descending {
			direction = " DESC"
		}
		if k.missable && w.dialect == MySQL {
			w.text.WriteString(k.column.expr + " IS NULL")
			if p.backward {
				w.text.WriteString(" DESC")
			}
			w.text.WriteString(", ")
		}
		w.text.WriteString(expr + direction)
		switch {
		case !k.missable || w.dialect == MySQL:
		case p.backward:
			w.text.WriteString(" NULLS FIRST")
		default:
			w.text.WriteString(" NULLS LAST")
		}
	}
}

// beyond writes what is on the side of the position. Databases look for it in an index if it is a comparison of rows,
// or if a bound on the first key stands alone; alternatives by themselves they read from the beginning.
func (w *writer) beyond(p place) {
	rows := w.dialect.comparesRows() && len(p.keys) > 1
	for i := range p.keys {
		rows = rows && !p.keys[i].missable && p.keys[i].Descending == p.keys[0].Descending
	}
	switch first := &p.keys[0]; {
	case rows:
		w.rows(p)
	case len(p.keys) == 1 && !first.missable:
		w.key(first, strict(first, p.backward), &p.at[0])
	default:
		w.bound(p)
		w.steps(p)
	}
}

// strict returns the operator for what is behind the position in a key; see loose.
func strict(k *key, backward bool) string {
	if k.Descending == backward {
		return " > "
	}
	return " < "
}

// loose returns the operator for what is behind the position in a key, or there.
func loose(k *key, backward bool) string {
	if k.Descending == backward {
		return " >= "
	}
	return " <= "
}

// rows writes a comparison of all keys at once.
func (w *writer) rows(p place) {
	lefts, rights := make([]string, len(p.keys)), make([]string, len(p.keys))
	for i := range p.keys {
		lefts[i], rights[i] = w.keySides(&p.keys[i], &p.at[i])
	}
	w.text.WriteString("(" + strings.Join(lefts, ", ") + ")" + strict(&p.keys[0], p.backward) +
		"(" + strings.Join(rights, ", ") + ")")
}

// bound writes a bound on the first key.
func (w *writer) bound(p place) {
	first, at := &p.keys[0], &p.at[0]
	switch {
	case at.Missing && !p.backward:
		w.text.WriteString(first.column.expr + " IS NULL AND ")
	case at.Missing, first.missable && !p.backward: // what is missing is behind
	default:
		w.key(first, loose(first, p.backward), at)
		w.text.WriteString(" AND ")
	}
}

// steps writes alternatives: each has the keys up to one of them as the position has them, and the next one beyond it.
func (w *writer) steps(p place) {
	w.text.WriteByte('(')
	for i := range p.keys {
		if i > 0 {
			w.text.WriteString(" OR ")
		}
		for j := range i {
			w.same(&p.keys[j], &p.at[j])
			w.text.WriteString(" AND ")
		}
		k, at := &p.keys[i], &p.at[i]
		switch {
		case at.Missing && p.backward:
			w.text.WriteString(k.column.expr + " IS NOT NULL")
		case at.Missing:
			w.text.WriteString(failing)
		case k.missable && !p.backward:
			w.text.WriteByte('(')
			w.key(k, strict(k, p.backward), at)
			w.text.WriteString(" OR " + k.column.expr + " IS NULL)")
		default:
			w.key(k, strict(k, p.backward), at)
		}
	}
	w.text.WriteByte(')')
}

func (w *writer) same(k *key, at *collection.Value) {
	if at.Missing {
		w.text.WriteString(k.column.expr + " IS NULL")
		return
	}
	w.key(k, " = ", at)
}

// key writes a comparison of a key with a value.
func (w *writer) key(k *key, symbol string, at *collection.Value) {
	left, right := w.keySides(k, at)
	w.text.WriteString(left + symbol + right)
}

func (w *writer) keySides(k *key, at *collection.Value) (left, right string) {
	if k.ranks == "" {
		return w.sides(k.Field, k.column, at)
	}
	rank := slices.Index(k.Field.Ranks, at.Text)
	if rank < 0 {
		rank = len(k.Field.Ranks)
	}
	return k.rank(), w.value(int64(rank))
}

// rank returns the place of an enum's value among its constants, or NULL if it is missing.
func (k *key) rank() string {
	if !k.missable {
		return k.ranks
	}
	return "CASE WHEN " + k.column.expr + " IS NOT NULL THEN " + k.ranks + " END"
}

// part is a statement of those that together list what a query asks for, in its order.
type part struct {
	place
	missing  bool // those rows whose first key is missing
	presence *key // of the first key, which the part decides on; nil: it does not
}

// parts splits a place whose first key may be missing into the rows with it and those without: one statement for both
// would read all of them. The second part is for when the first runs dry.
func (p place) parts() []part {
	if !p.keys[0].missable {
		return []part{{place: p}}
	}
	first := p.keys[0]
	present, missing := part{p, false, &first}, part{p, true, &first}
	present.keys = slices.Clone(p.keys)
	n := 0 // of its keys
	for ; n < len(p.keys) && p.keys[n].of == first.of; n++ {
		present.keys[n].missable = false
	}
	missing.keys = p.keys[n:]
	missing.at = nil
	switch {
	case p.at == nil:
	case !p.at[0].Missing && p.backward:
		return []part{present}
	case !p.at[0].Missing:
	default:
		missing.at, present.at = p.at[n:], nil
		if len(missing.keys) == 0 {
			missing.at = nil
			if p.backward {
				return []part{present}
			}
			return nil
		}
		if !p.backward {
			return []part{missing}
		}
	}
	if p.backward {
		return []part{missing, present}
	}
	return []part{present, missing}
}
