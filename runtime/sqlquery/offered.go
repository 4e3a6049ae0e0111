package sqlquery

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// offered is a field by which agents may filter, sort or search, or by which elements are identified.
type offered struct {
	name     string // or path, on the wire
	spelled  string // the same with the names that encoding/json writes, which a package may keep on the wire
	kind     collection.Kind
	list     bool
	time     bool // it is a time, or a list of times
	missable bool
	sorts    bool
	filters  bool
	only     []string // operators by which agents may filter; nil: all of its kind
	searches bool
	id       bool   // it identifies elements
	named    bool   // its type is a text with a name, which may be an enum
	enum     bool   // its tag says that it is one
	column   string // that a tag of another library names
}

// mostNested is how many structs the path of a field leads through.
const mostNested = 3

// offeredBy reads the tags of T as the generator does. tagged is false if none says what agents may do.
func offeredBy[T any]() (fields []offered, tagged bool, err error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, false, fmt.Errorf("sqlquery: elements of %s are no structs", t)
	}
	r := tagReader{}
	r.read(t, offered{}, 0, false)
	tagged = slices.ContainsFunc(r.found, func(f tagField) bool { return f.depth == 0 && f.collects() })
	ids := r.identifiers(t.Name())
	for i, f := range r.found {
		isID := slices.Contains(ids, i)
		use := f.collects() || isID
		if !tagged && f.depth == 0 {
			use = isID || !f.list && !f.has("sensitive") && !strings.HasPrefix(f.name, "_")
			f.sorts, f.filters = true, true
		}
		if use {
			f.id = isID
			fields = append(fields, f.offered)
		}
	}
	return fields, tagged, nil
}

// tagField is a field of T with the keys of its tag.
type tagField struct {
	offered
	depth int
	keys  []string
}

func (f *tagField) has(key string) bool { return slices.Contains(f.keys, key) }

// collects reports whether the tag says what agents may do by the field.
func (f *tagField) collects() bool {
	return slices.ContainsFunc(f.keys, func(key string) bool { return slices.Contains(collectionKeys, key) })
}

// collectionKeys are the keys of tags that say by what agents may ask.
var collectionKeys = []string{"filter", "sort", "search", "group", "sum"}

type tagReader struct{ found []tagField }

// allows reports whether agents may filter by the field with one of these operators, if values of its kind have them.
func (f *offered) allows(operators ...string) bool {
	return f.filters && (f.only == nil || slices.ContainsFunc(f.only, func(operator string) bool {
		return slices.Contains(operators, strings.TrimSpace(operator))
	}))
}

// identifiers returns the indexes of the fields that identify elements of a type, as the definitions that the generator
// makes do. Where a package keeps the names that encoding/json writes, only such a name may make another field the one:
// the generator takes an untagged field that is called id, or by the name of the type.
func (r *tagReader) identifiers(typeName string) (ids []int) {
	own := gen.SnakeCase(typeName) + "_id"
	ids = r.identifying(func(f *tagField) string { return f.name })
	kept := r.identifying(func(f *tagField) string { return f.spelled })
	switch {
	case len(kept) != 1 || r.found[kept[0]].spelled != own:
		return ids
	case len(ids) > 0 && (r.found[ids[0]].name == "id" || r.found[ids[0]].name == own):
		return ids
	}
	return kept
}

// identifying returns the indexes of the fields that identify elements if these are the names of fields.
func (r *tagReader) identifying(name func(*tagField) string) (ids []int) {
	var fields []gen.Param
	var at []int
	for i := range r.found {
		if f := &r.found[i]; f.depth == 0 {
			fields, at = append(fields, gen.Param{Name: name(f), ID: f.has("id")}), append(at, i)
		}
	}
	for _, i := range gen.Identifiers(fields) {
		ids = append(ids, at[i])
	}
	return ids
}

// isCalled reports whether a field of the order or of a condition is this one. A package may keep names as json tags
// spell them, by //aql:names verbatim, of which nothing is left here.
func (f *offered) isCalled(name string) bool {
	return folded(f.name) == folded(name) || folded(f.spelled) == folded(name)
}

// wireName returns the name on the wire of a field, as the generator makes it. name is that in the json tag.
func wireName(name, goName string) string {
	switch {
	case name == "":
		return gen.SnakeCase(goName)
	case gen.IsName(name), gen.IsReservedField(name):
		return name
	}
	return gen.FieldName(name, goName)
}

// read finds the fields of struct type t that hold values, and those of structs in it. in is the field that has the
// struct.
func (r *tagReader) read(t reflect.Type, in offered, depth int, missable bool) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		value, mayMiss := valueType(field.Type, field.Tag.Get("json"))
		mayMiss = mayMiss || missable
		switch {
		case field.Tag.Get("json") == "-":
		case field.Anonymous && name == "" && value.Kind() == reflect.Struct && !isValue(value):
			r.read(value, in, depth, mayMiss)
		case !field.IsExported():
		default:
			f := tagField{depth: depth}
			f.name, f.spelled = wireName(name, field.Name), cmp.Or(name, field.Name)
			var values map[string]string
			if f.keys, values = tagKeys(field.Tag.Get("aql")); values["name"] != "" {
				f.name, f.spelled = values["name"], values["name"]
			}
			if depth > 0 {
				f.name, f.spelled = in.name+"."+f.name, in.spelled+"."+f.spelled
			}
			f.missable, f.column = mayMiss, foreignColumn(field.Tag)
			f.sorts, f.filters, f.searches, f.enum = f.has("sort"), f.has("filter"), f.has("search"), f.has("enum")
			if values["filter"] != "" {
				f.only = strings.Split(values["filter"], "|")
			}
			if f.hold(value) {
				r.found = append(r.found, f)
			} else if value.Kind() == reflect.Struct && depth < mostNested && !f.has("sensitive") {
				r.read(value, f.offered, depth+1, mayMiss)
			}
		}
	}
}

// valueType returns the type of the values of a field of type t, and whether they may be missing.
func valueType(t reflect.Type, jsonTag string) (value reflect.Type, missable bool) {
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			t, missable = t.Elem(), true
		case t.Kind() == reflect.Struct && t.NumField() == 2 && t.PkgPath() == "database/sql" &&
			strings.HasPrefix(t.Name(), "Null"):
			t, missable = t.Field(0).Type, true
		case t.Kind() == reflect.Struct && t.NumField() == 2 && t.PkgPath() == "github.com/aqltag/aqltag/runtime" &&
			strings.HasPrefix(t.Name(), "Optional["):
			t, missable = t.Field(1).Type, true
		default:
			return t, missable || t == timeType && strings.Contains(jsonTag, ",omit")
		}
	}
}

var timeType = reflect.TypeFor[time.Time]()

// isValue reports whether a struct type is that of one value.
func isValue(t reflect.Type) bool {
	return t == timeType || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// hold sets the kind of a field that holds values of type t, or lists of them; false: they have no order.
func (f *offered) hold(t reflect.Type) bool {
	if t.Kind() == reflect.Slice && !isValue(t) {
		f.list = true
		t, _ = valueType(t.Elem(), "")
	}
	switch {
	case t == timeType:
		f.kind, f.time = collection.Time, true
		return true
	case isValue(t):
		f.kind = collection.Text
		return true
	}
	switch t.Kind() {
	case reflect.Bool:
		f.kind = collection.Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.kind = collection.Int
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.kind = collection.Uint
	case reflect.Float32, reflect.Float64:
		f.kind = collection.Float
	case reflect.String:
		f.kind, f.named = collection.String, t.PkgPath() != ""
	default:
		return false
	}
	return true
}

// tagKeys returns the keys of an aql tag, and their values.
func tagKeys(tag string) (keys []string, values map[string]string) {
	values = make(map[string]string)
	quoted, start := false, 0
	for i := 0; i <= len(tag); i++ {
		switch {
		case i < len(tag) && tag[i] == '\'':
			quoted = !quoted
		case i == len(tag) || tag[i] == ',' && !quoted:
			key, value, _ := strings.Cut(tag[start:i], "=")
			key = strings.TrimSpace(key)
			keys, values[key] = append(keys, key), strings.TrimSpace(value)
			start = i + 1
		}
	}
	return keys, values
}

// foreignColumn returns the column that a tag of another library names; empty: there is none.
func foreignColumn(tag reflect.StructTag) string {
	if name, _, _ := strings.Cut(tag.Get("db"), ","); name != "" && name != "-" {
		return name
	}
	for item := range strings.SplitSeq(tag.Get("gorm"), ";") {
		if key, name, _ := strings.Cut(item, ":"); strings.EqualFold(strings.TrimSpace(key), "column") {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
