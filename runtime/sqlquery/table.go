package sqlquery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Table says how elements of type T are kept. It is safe for concurrent use.
type Table[T any] struct {
	dialect Dialect
	from    string
	fields  []offered // in the order of T
	columns columns
}

// columns are the columns of fields, by their folded names, and by those that json tags spell in another way. Fields
// that are left to the runtime have none.
type columns map[string]*column

// of returns the column of a field; nil: it has none.
func (c columns) of(field string) *column { return c[folded(field)] }

// folded returns a name without what tells one in camelCase from the same in snake_case: agents see names in
// snake_case, unless a directive keeps them as they are.
func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Columns says which columns hold the fields of a type, by the names or paths of the fields on the wire. A field that
// is absent is held by the column that its tag db or gorm names, or else by the one with its own name.
type Columns map[string]Column

// Column says how a field is kept. A field that may be missing is NULL where it is, and no other one is. The zero
// Column is the column with the name of the field.
type Column struct {
	// Name is the name of the column. It is quoted.
	Name string
	// Expr is an SQL expression in place of a column, such as "t.title" or "lower(title)". It is a part of statements
	// as it is, so no request may have a part in it.
	Expr string
	// Encode returns a value as the database keeps it; nil: as it is. It gets a string, bool, float64, time.Time or
	// int64, or a uint64 where an int64 has no room, and has to keep the order of values. SQLite, which has no times,
	// needs one for each field that is a time, as every list of times in JSON does: see UnixMicro.
	Encode func(value any) any
	// Precision is that to which a time is kept; 0: a microsecond.
	Precision time.Duration
	// List is how a list is kept: JSON, in which SQLite finds no numbers from 1<<63 on, Array, or a subquery of the
	// author's with one %s, in whose place the condition on an element stands. Expr is then the element:
	//
	//	{Expr: "g.tag", List: "SELECT 1 FROM tags g WHERE g.todo_id = todos.todo_id AND %s"}
	List string
	// Collated says to compare and order texts as the database does for the column, and not by their bytes. Conditions
	// on it are never left to the runtime, which would compare bytes: a request that needs this fails.
	Collated bool
	// InMemory leaves conditions on the field, and orders by it, to the runtime, since the database has no such column.
	// The runtime then reads more rows than the page has.
	InMemory bool
}

// The ways in which databases keep a list in a column.
const (
	JSON  = "json"  // an array of JSON; in PostgreSQL of type json or jsonb
	Array = "array" // an array of PostgreSQL
)

// column is a Column that is known to be sound.
type column struct {
	Column
	expr string // of SQL
}

// New returns the table of T in a database. from is what stands behind FROM, such as the name of the table.
//
// It fails, naming all of them, if fields by which agents may filter, sort or search have no column: each has to have
// one or be InMemory, so that what introspection offers is what the database does. If no field of T has a tag filter,
// sort or search, agents may use all of its texts, numbers, booleans and times, and each has to be in columns or have a
// tag db or gorm.
func New[T any](dialect Dialect, from string, columns Columns) (*Table[T], error) {
	t := &Table[T]{dialect: dialect, from: from, columns: make(map[string]*column)}
	if !dialect.known() || strings.TrimSpace(from) == "" {
		return nil, errors.New("sqlquery: a table needs a dialect and a name")
	}
	fields, tagged, err := offeredBy[T]()
	if err != nil {
		return nil, err
	}
	t.fields = fields
	var faults []string
	named := make(map[string]string) // the names in columns by the folded ones
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		named[folded(name)] = name
		if !slices.ContainsFunc(fields, func(f offered) bool { return f.isCalled(name) }) {
			faults = append(faults, name+": agents can neither filter, sort nor search by a field of this name")
		}
	}
	for i := range fields {
		f := &fields[i]
		for k := range i {
			if folded(fields[k].name) == folded(f.name) {
				faults = append(faults, f.name+": but for small letters and underscores, "+fields[k].name+" has the same name")
			}
		}
		name, given := named[folded(f.name)]
		if !given {
			name, given = named[folded(f.spelled)]
		}
		c := columns[name]
		if c.InMemory {
			continue
		}
		made, fault := t.column(f, c, given || tagged)
		if fault != "" {
			faults = append(faults, f.name+": "+fault)
		}
		t.columns[folded(f.name)], t.columns[folded(f.spelled)] = made, made
	}
	if faults != nil {
		return nil, fmt.Errorf("sqlquery: the table %s: %s", from, strings.Join(faults, "; "))
	}
	return t, nil
}

// Must returns the table, and panics if there is an error: for variables of packages.
func Must[T any](t *Table[T], err error) *Table[T] {
	if err != nil {
		panic(err)
	}
	return t
}

// column returns the column of a field, or what is wrong with it. named says that it may have the name of the field.
func (t *Table[T]) column(f *offered, c Column, named bool) (made *column, fault string) {
	const advice = `; name one, or leave the field to the runtime with InMemory`
	if c.Name != "" && c.Expr != "" {
		return nil, "it has a Name and an Expr"
	}
	if c.Name == "" && c.Expr == "" {
		switch {
		case f.column != "":
			c.Name = f.column
		case !named || strings.Contains(f.name, ".") || f.spelled != f.name:
			return nil, "it has no column" + advice
		default:
			c.Name = f.name
		}
	}
	made = &column{Column: c, expr: "(" + c.Expr + ")"}
	if c.Expr == "" {
		made.expr = t.dialect.quote(c.Name)
	}
	switch {
	case strings.ContainsRune(c.Name, 0):
		return nil, "the name of its column is none"
	case f.list != (c.List != "") && f.list:
		return nil, "it is a list: say in List how it is kept" + advice
	case f.list != (c.List != ""):
		return nil, "it is no list"
	case c.List == Array && t.dialect != PostgreSQL:
		return nil, t.dialect.String() + " has no arrays"
	case c.List != "" && c.List != JSON && c.List != Array && strings.Count(c.List, "%s") != 1:
		return nil, "its List is json, array, or a subquery with one %s"
	case f.time && c.Encode == nil && t.dialect == SQLite:
		return nil, "SQLite has no times: say in Encode how they are kept" + advice
	case f.time && c.Encode == nil && c.List == JSON:
		return nil, "JSON has no times: say in Encode how they are kept" + advice
	case c.Precision < 0 || c.Precision > time.Second:
		return nil, "its Precision is no part of a second"
	}
	if made.Precision == 0 {
		made.Precision = time.Microsecond
	}
	return made, ""
}

// UnixMicro encodes a time as the microseconds since 1970, which any integer column of 64 bits holds, and other values
// as they are.
func UnixMicro(value any) any {
	if at, ok := value.(time.Time); ok {
		return at.UnixMicro()
	}
	return value
}
