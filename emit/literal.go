package emit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aqltag/aqltag/model"
)

// quote is the Go literal of a string: between backquotes where that spares escapes.
func quote(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return r == '`' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
	})
	if plain && strings.ContainsAny(s, "\"\\") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func stringsLiteral(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[]string{" + strings.Join(quoted, ", ") + "}"
}

// constants are the values of package model's string types that have a name there.
var constants = map[any]string{
	model.Create: "Create", model.Read: "Read", model.Update: "Update", model.Delete: "Delete", model.Execute: "Execute",
	model.Safe: "Safe", model.Reversible: "Reversible", model.Destructive: "Destructive", model.Dangerous: "Dangerous",
	model.Forbidden: "Forbidden", model.DangerFromTag: "DangerFromTag", model.DangerFromPattern: "DangerFromPattern",
	model.DangerFromCategory: "DangerFromCategory", model.KindEnum: "KindEnum", model.KindObject: "KindObject",
	model.KindScalar: "KindScalar", model.KindUnion: "KindUnion",
}

// modelLiteral is the literal of a value of package model: only its fields that are not zero, one per line. Lines after
// the first are indented by indent.
func (g *generator) modelLiteral(v reflect.Value, indent int, typed bool) string {
	if v.Kind() == reflect.String {
		if name, ok := constants[v.Interface()]; ok {
			return g.names.use(pathModel, "model") + "." + name
		}
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		return g.duration(time.Duration(v.Int()))
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String())
	case reflect.Pointer:
		return "&" + g.modelLiteral(v.Elem(), indent, true)
	case reflect.Slice:
		if list, ok := v.Interface().([]string); ok {
			return stringsLiteral(list)
		}
		p := printer{indent: indent}
		p.open("[]", g.modelType(v.Type().Elem()), "{")
		for i := range v.Len() {
			p.line(g.modelLiteral(v.Index(i), p.indent, false), ",")
		}
		p.shut("}")
		return p.cut()
	case reflect.Struct:
		head := ""
		if typed {
			head = g.modelType(v.Type())
		}
		return g.structLiteral(v, head, indent)
	default:
		return fmt.Sprint(v.Interface())
	}
}

func (g *generator) modelType(t reflect.Type) string {
	return g.names.use(pathModel, "model") + "." + t.Name()
}

func (g *generator) structLiteral(v reflect.Value, head string, indent int) string {
	var rows []column
	enum := g.paramEnum(v)
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		switch {
		case value.IsZero(), value.Kind() == reflect.Slice && value.Len() == 0:
		case field.Name == "Enum" && enum != "":
			rows = append(rows, column{"Enum:", enum})
		default:
			rows = append(rows, column{field.Name + ":", g.modelLiteral(value, indent+1, true)})
		}
	}
	if len(rows) <= 1 || v.Type() == reflect.TypeFor[model.EnumValue]() {
		return inline(head, rows, indent)
	}
	p := printer{indent: indent}
	p.open(head, "{")
	p.columns(rows, ",")
	p.shut("}")
	return p.cut()
}

// inline is a literal on one line, unless it has a single field that takes several.
func inline(head string, rows []column, indent int) string {
	fields := make([]string, len(rows))
	for i, row := range rows {
		if strings.Contains(row.right, "\n") {
			p := printer{indent: indent}
			p.open(head, "{")
			p.columns(rows, ",")
			p.shut("}")
			return p.cut()
		}
		fields[i] = row.left + " " + row.right
	}
	return head + "{" + strings.Join(fields, ", ") + "}"
}

// cut is the text without the indentation of its first line and the last line's end, to stand inside a line.
func (p *printer) cut() string { return strings.Trim(string(p.text), "\t\n") }

// paramEnum is the variable that lists the values of a parameter whose type is an enum.
func (g *generator) paramEnum(v reflect.Value) string {
	if v.Type() != reflect.TypeFor[model.Param]() {
		return ""
	}
	values, _ := v.FieldByName("Enum").Interface().([]string)
	sh := g.enumTypes[v.FieldByName("Type").String()]
	if len(values) == 0 || sh == nil || !slices.Equal(constantValues(sh), values) {
		return ""
	}
	return g.enumVariable(g.title(sh), sh, values)
}

func constantValues(sh *model.Shape) []string {
	values := make([]string, len(sh.Enum))
	for i, constant := range sh.Enum {
		values[i] = constant.Value
	}
	return values
}

func (g *generator) duration(d time.Duration) string {
	units := []struct {
		unit time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {1, "Nanosecond"}}
	for _, u := range units {
		if d%u.unit == 0 && d != 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + " * " + g.names.use(pathTime, "time") + "." + u.name
		}
	}
	return "0"
}

// goLiteral is the Go expression for a default, given as JSON, of a value of the shape. It is false for shapes that are
// read from their JSON instead. typed asks for an expression that has the shape's type wherever it stands.
func (g *generator) goLiteral(sh *model.Shape, text string, typed bool) (string, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		g.fail("default %s is not JSON: %v", text, err)
		return "nil", true
	}
	literal, ok, err := g.literal(sh, value, typed)
	if err != nil {
		g.fail("default %s: %v", text, err)
		return "nil", true
	}
	return literal, ok
}

func (g *generator) literal(sh *model.Shape, value any, typed bool) (string, bool, error) {
	wrong := func() (string, bool, error) {
		return "", false, fmt.Errorf("not a value of type %s", expected(sh))
	}
	convert := func(text, untyped string) (string, bool, error) {
		if typed && g.goType(sh) != untyped {
			text = g.goType(sh) + "(" + text + ")"
		}
		return text, true, nil
	}
	switch sh.Kind {
	case model.ShapeBool:
		if b, ok := value.(bool); ok {
			return convert(strconv.FormatBool(b), "bool")
		}
	case model.ShapeInt, model.ShapeUint:
		if n, ok := integer(value); ok {
			return convert(n, "int")
		}
	case model.ShapeFloat:
		if n, ok := value.(json.Number); ok {
			if !strings.ContainsAny(n.String(), ".eE") {
				return convert(n.String(), "")
			}
			return convert(n.String(), "float64")
		}
	case model.ShapeString:
		if s, ok := value.(string); ok {
			if constant, ok := g.enumConstant(sh, s); ok {
				return constant, true, nil
			}
			return convert(quote(s), "string")
		}
	case model.ShapeBytes:
		if s, ok := value.(string); ok {
			data, err := base64.StdEncoding.DecodeString(s)
			return g.goType(sh) + "(" + strconv.Quote(string(data)) + ")", true, err
		}
	case model.ShapeTime:
		if s, ok := value.(string); ok {
			return g.timeLiteral(sh, s)
		}
	case model.ShapePointer:
		inner, ok, err := g.literal(sh.Elem, value, true)
		return "new(" + inner + ")", ok, err
	case model.ShapeSlice, model.ShapeArray:
		if list, ok := value.([]any); ok {
			return g.listLiteral(sh, list)
		}
	case model.ShapeMap:
		if object, ok := value.(map[string]any); ok {
			return g.mapLiteral(sh, object)
		}
	default:
		return "", false, nil
	}
	return wrong()
}

func (g *generator) timeLiteral(sh *model.Shape, s string) (string, bool, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return "", false, err
	}
	t = t.UTC()
	name := g.names.use(pathTime, "time")
	text := fmt.Sprintf("%s.Date(%d, %s.%s, %d, %d, %d, %d, %d, %s.UTC)", name, t.Year(), name, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), name)
	return g.convert(sh, text, name+".Time"), true, nil
}

func (g *generator) listLiteral(sh *model.Shape, list []any) (string, bool, error) {
	if sh.Kind == model.ShapeArray && len(list) != sh.Len {
		return "", false, fmt.Errorf("has %d elements instead of %d", len(list), sh.Len)
	}
	elements := make([]string, len(list))
	for i, element := range list {
		text, ok, err := g.literal(sh.Elem, element, false)
		if !ok || err != nil {
			return "", false, err
		}
		elements[i] = text
	}
	return g.goType(sh) + "{" + strings.Join(elements, ", ") + "}", true, nil
}

func (g *generator) mapLiteral(sh *model.Shape, object map[string]any) (string, bool, error) {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	entries := make([]string, len(keys))
	for i, key := range keys {
		text, ok, err := g.literal(sh.Elem, object[key], false)
		if !ok || err != nil {
			return "", false, err
		}
		entries[i] = quote(key) + ": " + text
	}
	return g.goType(sh) + "{" + strings.Join(entries, ", ") + "}", true, nil
}

// integer is the Go literal of a JSON number that has an integral value, however it is spelled.
func integer(value any) (string, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return "", false
	}
	rat, ok := new(big.Rat).SetString(n.String())
	if !ok || !rat.IsInt() {
		return "", false
	}
	return rat.Num().String(), true
}
