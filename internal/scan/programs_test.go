package scan_test

import (
	"fmt"
	"regexp"
	"strings"
)

// writer writes a random package. Each of its choices is a byte of the seed; without bytes it takes the first choice,
// so every package ends, and a fuzzer that changes a byte changes one choice.
type writer struct {
	seed  []byte
	text  strings.Builder
	types []declared
	open  []string // type parameters in scope
	depth int
}

// declared is a type of the package.
type declared struct {
	name   string
	params int
}

func (w *writer) choose(n int) int {
	if len(w.seed) == 0 {
		return 0
	}
	b := w.seed[0]
	w.seed = w.seed[1:]
	return int(b) % n
}

func (w *writer) pick(list ...string) string { return list[w.choose(len(list))] }

// rarely is a choice of types that mostly cannot be carried.
func (w *writer) rarely(list ...string) string {
	if w.choose(5) < 4 {
		return "string"
	}
	return w.pick(list...)
}

// imports are the packages that every program imports.
const imports = `import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"example.com/other"
)

var (
	_ context.Context
	_ json.Number
	_ fmt.Stringer
	_ big.Int
	_ time.Time
	_ aql.Optional[int]
	_ other.Kind
)
`

// other is a package that programs import: of the same module, with hidden fields and names that are taken elsewhere.
const other = `package other

type Kind string

const (
	Good Kind = "good"
	Bad  Kind = "bad"
)

type Item struct {
	Name string ` + "`json:\"name\"`" + `
	kept int
}

type Request struct {
	ID string ` + "`json:\"id\" aql:\"required\"`" + `
}

type hidden struct{ Seen int }

type Outer struct {
	hidden
	*Item
	Kind Kind
}

type Of[T any] struct{ In T }

type Named[K comparable, V any] map[K]V

func (h hidden) use() {}
`

// program returns the source of a random package app.
func program(seed []byte) string {
	w := &writer{seed: seed}
	w.text.WriteString("// Package app is random.\npackage app\n\n" + imports)
	names := []string{
		"A",
		"B",
		"C",
		"D",
		"E",
		"F",
		"request",
		"Handlers",
		"handlers",
		"wireTypes",
		"gen",
		"arguments",
		"ctx",
		"Time",
		"Ünï",
	}
	taken := 0
	for range 1 + w.choose(6) {
		params := 0
		if w.choose(3) == 1 {
			params = 1 + w.choose(2)
		}
		if taken += 1 + w.choose(3); taken >= len(names) {
			break
		}
		w.types = append(w.types, declared{names[taken], params})
	}
	for _, t := range w.types {
		w.declare(t)
	}
	for i := range 1 + w.choose(3) {
		w.handler(i)
	}
	return w.text.String()
}

func (w *writer) declare(t declared) {
	w.open = []string{"X", "Y"}[:t.params]
	list := ""
	switch t.params {
	case 1:
		list = "[X " + w.pick("any", "any", "any", "comparable", "~int | ~string") + "]"
	case 2:
		list = "[X comparable, Y any]"
	}
	equals := ""
	if w.choose(12) == 1 {
		equals = "= "
	}
	var definition string
	if w.choose(4) < 3 {
		definition = w.structure(t.name)
	} else {
		definition = w.expression()
	}
	fmt.Fprintf(&w.text, "\n// %s is random.\ntype %s%s %s%s\n", t.name, t.name, list, equals, definition)
	if t.params == 0 && equals == "" && w.choose(3) == 1 {
		w.members(t, definition)
	}
	w.open = nil
}

// members writes constants and methods of a type that can have them.
func (w *writer) members(t declared, definition string) {
	switch definition {
	case "string":
		value := w.pick("one", "", "é", "a b", `"`)
		fmt.Fprintf(&w.text, "\nconst (\n\t%[1]sOne %[1]s = %[2]q\n\t%[1]sTwo %[1]s = \"two\"\n)\n", t.name, value)
	case "int", "uint8", "int64":
		fmt.Fprintf(&w.text, "\nconst (\n\t%sZero %s = iota\n\t%sOne\n)\n", t.name, t.name, t.name)
	}
	receiver := w.pick(t.name, "*"+t.name)
	if methodless.MatchString(definition) {
		return
	}
	for _, method := range []string{
		"MarshalJSON() ([]byte, error) { panic(0) }", "UnmarshalJSON([]byte) error { panic(0) }",
		"MarshalText() ([]byte, error) { panic(0) }", "UnmarshalText([]byte) error { panic(0) }",
		"String() string { panic(0) }", "IsZero() bool { panic(0) }",
	} {
		if w.choose(3) == 1 {
			fmt.Fprintf(&w.text, "\nfunc (%s) %s\n", receiver, method)
		}
	}
}

// methodless matches definitions of types that cannot have methods.
var methodless = regexp.MustCompile(`^(?:\*|any$|interface|error$|fmt\.Stringer$|context\.Context$)`)

// expression returns a type.
func (w *writer) expression() string {
	w.depth++
	defer func() { w.depth-- }()
	n := 20
	if w.depth > 4 {
		n = 6
	}
	switch w.choose(n) {
	default:
		return w.pick("string", "int", "bool", "float64", "uint8", "int64", "byte", "rune", "uint", "float32", "uintptr",
			"int8")
	case 1, 2:
		return w.pick("*", "[]", "map[string]") + w.named()
	case 3:
		return w.named()
	case 4:
		return w.pick("time.Time", "time.Duration", "json.Number", "json.RawMessage", "big.Int", "*big.Float", "other.Kind",
			"other.Item", "other.Outer", "time.Month", "[]byte", "struct{}", "any")
	case 5:
		return w.rarely("error", "fmt.Stringer", "interface{ M() }", "chan int", "func()", "complex128",
			"context.Context")
	case 6, 7:
		return "*" + w.expression()
	case 8, 9:
		return "[]" + w.expression()
	case 10:
		return w.pick("[0]", "[1]", "[3]") + w.expression()
	case 11, 12:
		return "map[" + w.key() + "]" + w.expression()
	case 13:
		return "aql.Optional[" + w.expression() + "]"
	case 14:
		return w.rarely("aql.Patch[" + w.named() + "]")
	case 15:
		return "other.Of[" + w.expression() + "]"
	case 16:
		return "other.Named[" + w.key() + ", " + w.expression() + "]"
	case 17:
		return w.structure("")
	}
}

func (w *writer) key() string {
	if w.choose(4) > 0 {
		return w.pick("string", "int", "uint8", "other.Kind", "json.Number", "time.Time")
	}
	return w.rarely("bool", "[2]byte", w.named(), "any")
}

// named returns a type of the package, a type parameter, or an instance.
func (w *writer) named() string {
	at := w.choose(len(w.types) + len(w.open))
	if at >= len(w.types) {
		return w.open[at-len(w.types)]
	}
	t := w.types[at]
	switch {
	case t.params == 0:
		return t.name
	case w.depth > 6:
		return t.name + []string{"[int]", "[string, int]"}[t.params-1]
	}
	w.depth++
	defer func() { w.depth-- }()
	arguments := []string{w.pick("int", "string", w.expression()), ""}[:1]
	if t.params == 2 {
		arguments = []string{w.pick("string", "int"), w.expression()}
	}
	return t.name + "[" + strings.Join(arguments, ", ") + "]"
}

var jsonNames = []string{
	"a",
	"b",
	"c",
	"name",
	"id",
	"input",
	"camelCase",
	"-",
	"",
	"d",
	"items",
	"e",
	"fields",
	"f",
	"_x",
}

// embeddable matches a type that may be embedded, as far as its text tells.
var embeddable = regexp.MustCompile(`^\*?(?:[A-LN-Z]\w*|[a-ln-z][\w.]*)(?:\[.*\])?$`)

// structure returns a struct type.
func (w *writer) structure(of string) string {
	var s strings.Builder
	s.WriteString("struct {\n")
	if of != "" && w.choose(6) == 1 {
		s.WriteString("\t_ struct{} `aql:\"category=READ\"`\n")
	}
	for i := range w.choose(5) {
		name := []string{"A", "B", "C", "D", "E"}[i]
		if w.choose(8) == 1 {
			name = []string{"a", "b", "c", "_", "é"}[i]
		}
		expression := w.expression()
		if w.choose(6) == 1 && embeddable.MatchString(expression) {
			name = "" // embedded
		}
		tag := ""
		if w.choose(2) == 1 {
			name := jsonNames[w.choose(len(jsonNames))] + w.pick("", "", ",omitempty", ",omitzero", ",string")
			tag = fmt.Sprintf(" `json:%q%s`", name, w.pick("", "", ` aql:"required"`, ` aql:"readonly"`, ` aql:"min=1"`,
				` aql:"sensitive"`, ` aql:"preset=summary"`))
		}
		fmt.Fprintf(&s, "\t%s %s%s\n", name, expression, tag)
	}
	s.WriteString("}")
	return s.String()
}

// handler writes a function that is an operation.
func (w *writer) handler(i int) {
	receiver := ""
	if w.choose(3) == 1 && len(w.types) > 0 {
		t := w.types[w.choose(len(w.types))]
		receiver = w.pick("", "*") + t.name + []string{"", "[X]", "[X, Y]"}[t.params]
		receiver = "(r " + receiver + ") "
	}
	name := fmt.Sprintf("%s%d", w.pick("Get", "Create", "update", "Do", "arguments"), i)
	category := w.pick("READ", "CREATE", "EXECUTE", "DELETE", "READ", "READ", "CREATE", "UPDATE")
	context := w.pick("", "ctx context.Context, ", "context.Context, ")
	params := ""
	switch w.choose(6) {
	case 0, 1:
		params = "in " + w.named()
	case 2:
		params = "in *" + w.named()
	case 3:
		params = "a " + w.expression() + ", request " + w.expression()
	case 4:
		params = "list ..." + w.expression()
	case 5:
		params = "in other.Request"
	}
	if strings.HasPrefix(context, "context") {
		context = "_ " + context
	}
	result := "error"
	if w.choose(4) > 0 {
		result = "(" + w.expression() + ", error)"
	}
	fmt.Fprintf(&w.text, "\n// %s is random.\n//\n//aql:op category=%s\n", name, category)
	fmt.Fprintf(&w.text, "func %s%s(%s%s) %s { panic(0) }\n", receiver, name, context, params, result)
}
