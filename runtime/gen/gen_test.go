package gen

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// registry makes a registry of handlers, which only have to be named.
func registry(types []WireType, handlers ...Handler) *Registry {
	for i := range handlers {
		handlers[i].Request = (*struct{})(nil)
		handlers[i].Call = func(context.Context, []any, any) (any, error) { return nil, nil }
	}
	return NewRegistry(handlers, types)
}

// Whatever a Param can say, a Field can say. A member that is added to one has to be added to the other.
func TestFieldsSayAllThatParamsSay(t *testing.T) {
	field := Field{
		Name:        "n",
		Go:          "N",
		Type:        "array",
		Items:       &Field{Type: "string"},
		Keys:        &Field{Type: "integer", Rules: Rules{Max("9")}},
		Required:    true,
		Nullable:    true,
		Sensitive:   true,
		ReadOnly:    true,
		AppendOnly:  true,
		ID:          true,
		OmitEmpty:   true,
		OmitZero:    true,
		Quoted:      true,
		Description: "d",
		Rules: Rules{
			Default(
				"1",
			),
			Enum{"a"},
			Constant("c"),
			Min("2"),
			Max("3"),
			MinLen(4),
			MaxLen(5),
			MinItems(6),
			MaxItems(7),
			Pattern("p"),
			FormatRule("f"),
			Presets{"minimal"},
			Filter{"contains"},
			Search{},
			Aliases{"other"},
			Excludes{"third"},
			DryRun{},
			Deprecated("old"),
		},
	}
	want := Param{
		Name:        "n",
		Go:          "N",
		Type:        "array",
		Items:       &Param{Type: "string"},
		Keys:        &Param{Type: "integer", Maximum: "9"},
		Required:    true,
		Nullable:    true,
		Sensitive:   true,
		ReadOnly:    true,
		AppendOnly:  true,
		ID:          true,
		OmitEmpty:   true,
		OmitZero:    true,
		Quoted:      true,
		Description: "d",
		Default:     "1",
		Constant:    "c",
		Enum:        []string{"c"},
		Minimum:     "2",
		Maximum:     "3",
		MinLength:   4,
		MaxLength:   5,
		MinItems:    6,
		MaxItems:    7,
		Pattern:     "p",
		Format:      "f",
		FormatRule:  true,
		Presets:     []string{"minimal"},
		Filter:      []string{"contains"},
		Search:      true,
		Aliases:     []string{"other"},
		Excludes:    []string{"third"},
		DryRun:      true,
		Deprecated:  "old",
	}
	for i, value := 0, reflect.ValueOf(want); i < value.NumField(); i++ {
		if value.Field(i).IsZero() {
			t.Errorf("this test leaves out %s", value.Type().Field(i).Name)
		}
	}
	o, _ := registryOperation(t, registry(nil, Handler{Name: "get", Params: []Field{field}}), "get")
	if diff := cmp.Diff([]Param{want}, o.Params); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func registryOperation(t *testing.T, r *Registry, name string) (*Operation, Definitions) {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	definitions := r.Definitions()
	o, ok := definitions.Operation(name)
	if !ok {
		t.Fatalf("there is no operation %s", name)
	}
	return o, definitions
}

// Operations and types are what generated code declares; what is left out is filled in.
func TestDefinitions(t *testing.T) {
	level := WireType{
		Name: "Level", Kind: KindEnum, Description: "How much", Values: []EnumValue{{"low", "Hardly"}, {"high", ""}},
	}
	union := WireType{Name: "Either", Kind: KindUnion, Members: []string{"Level", "string"}}
	counts := WireType{Name: "Counts", Kind: KindObject, Items: &Field{Type: "Level"}}
	_, got := registryOperation(t, registry([]WireType{level, union, counts}, Handler{
		Name: "set_level", Category: Update, Danger: Reversible, Description: "Sets it.", Returns: "Level",
		Params: []Field{
			{Name: "level", Type: "Level"}, {Name: "lower", Type: "Level", Rules: Rules{Enum{"low"}}}, {
				Name: "all", Type: "array", Items: &Field{Type: "Level"},
			},
		},
	}, Handler{Name: "ping", DangerSource: DangerFromTag}), "ping")
	values := []string{"low", "high"}
	want := Definitions{
		Operations: []Operation{{
			Name: "set_level", Category: Update, Danger: Reversible, DangerSource: DangerFromCategory, Description: "Sets it.",
			Returns: Returns{Name: "Level", Kind: KindEnum, Description: "How much"},
			Params: []Param{
				{Name: "level", Type: "Level", Enum: values}, {Name: "lower", Type: "Level", Enum: []string{"low"}},
				{Name: "all", Type: "array", Items: &Param{Type: "Level", Enum: values}},
			},
		}, {Name: "ping", DangerSource: DangerFromTag}},
		Types: []Type{
			{Name: "Level", Kind: KindEnum, Description: "How much", Values: level.Values},
			{Name: "Either", Kind: KindUnion, Members: union.Members},
			{Name: "Counts", Kind: KindObject, Items: &Param{Type: "Level", Enum: values}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The type of changes has the fields that an update may change, none of them required, and nullable where null removes
// (A3, REQ-UP-09); it goes into objects and maps, but not into lists, which updates replace.
func TestTypesOfChanges(t *testing.T) {
	r := registry([]WireType{
		{Name: "TodoPatch", Kind: KindObject, Changes: "Todo"},
		{Name: "Level", Kind: KindEnum, Values: []EnumValue{{Value: "low"}, {Value: "high"}}},
		{
			Name: "Meta", Kind: KindObject,
			Fields: []Field{{Name: "color", Go: "Color", Type: "string"}, {Name: "id", Go: "ID", Type: "string", ID: true}},
		},
		{Name: "Todo", Kind: KindObject, Description: "A thing", Fields: []Field{
			{Name: "title", Go: "Title", Type: "string", Required: true},
			{Name: "level", Go: "Level", Type: "Level", Rules: Rules{Default(`"low"`)}},
			{Name: "meta", Go: "Meta", Type: "Meta"},
			{Name: "all", Go: "All", Type: "object", Items: &Field{Type: "Meta"}},
			{Name: "list", Go: "List", Type: "array", Items: &Field{Type: "Meta"}},
			{Name: "at", Go: "At", Type: "string", ReadOnly: true},
		}},
		{Name: "MetaPatch", Kind: KindObject, Changes: "Meta"},
	})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	definitions := r.Definitions()
	for _, want := range []Type{
		{Name: "MetaPatch", Kind: KindObject, Changes: "Meta", Fields: []Param{{Name: "color", Go: "Color", Type: "string"}}},
		{Name: "TodoPatch", Kind: KindObject, Changes: "Todo", Fields: []Param{
			{Name: "title", Go: "Title", Type: "string"},
			{Name: "level", Go: "Level", Type: "Level", Nullable: true, Enum: []string{"low", "high"}},
			{Name: "meta", Go: "Meta", Type: "MetaPatch"},
			{Name: "all", Go: "All", Type: "object", Nullable: true, Items: &Param{Type: "MetaPatch", Nullable: true}},
			{Name: "list", Go: "List", Type: "array", Nullable: true, Items: &Param{Type: "Meta"}},
		}},
	} {
		got, _ := definitions.Type(want.Name)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	todo, _ := definitions.Type("Todo")
	if !todo.Fields[0].Required || todo.Fields[3].Items.Type != "Meta" {
		t.Errorf("the type itself has changed: %+v", todo.Fields)
	}
}

// D6: a registry says what its packages are, in the order in which they are merged.
func TestDescriptions(t *testing.T) {
	named := func(name, description string) *Registry {
		return registry(nil, Handler{Name: name}).About(description)
	}
	for _, tt := range []struct {
		name     string
		registry *Registry
		want     string
	}{
		{"of one package", named("a", "Keeps notes."), "Keeps notes."},
		{"of one package, merged", Merge(named("a", "Keeps notes.")), "Keeps notes."},
		{"of several", Merge(named("a", "Keeps notes."), named("b", "Sends mail.")), "Keeps notes. Sends mail."},
		{"of some", Merge(named("a", ""), named("b", "Sends mail."), named("c", "")), "Sends mail."},
		{"of merged ones", Merge(Merge(named("a", "Keeps notes."), named("b", "Sends mail.")), named("c", "Pays.")),
			"Keeps notes. Sends mail. Pays."},
		{"as the author says", Merge(Merge(named("a", "Keeps notes."), named("b", "")).About("An office."), named("c", "")),
			"An office."},
		{"of none", Merge(named("a", ""), named("b", "")), ""},
	} {
		definitions := tt.registry.Definitions()
		if definitions.Description != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, definitions.Description, tt.want)
		}
	}
}

// Faults of declarations and of merging are all reported, with names.
func TestFaults(t *testing.T) {
	thing := WireType{Name: "Thing", Kind: KindScalar}
	other := WireType{Name: "Thing", Kind: KindObject}
	first, second := Handler{Name: "get", Source: "a.go:1"}, Handler{Name: "get", Source: "b.go:2"}
	for _, tt := range []struct {
		name     string
		registry *Registry
		want     string
	}{
		{
			"none",
			Merge(registry([]WireType{thing}, first), registry([]WireType{thing}, Handler{Name: "put", Returns: "Thing"})), "",
		},
		{"an operation without a function", NewRegistry([]Handler{first}, nil), "operation get has no handler"},
		{
			"an unknown result", registry(nil, Handler{Name: "get", Returns: "Thing"}),
			"operation get returns Thing, which is not declared",
		},
		{
			"changes of an unknown type", registry([]WireType{{Name: "ThingPatch", Changes: "Thing"}}),
			"type ThingPatch changes Thing, which is not declared",
		},
		{"two operations of one name", registry(nil, first, second), `operation "get" is defined twice: a.go:1 and b.go:2`},
		{
			"the same in two registries", Merge(registry(nil, first), registry(nil, second)),
			`operation "get" is defined twice: a.go:1 and b.go:2`,
		},
		{
			"two types of one name", Merge(registry([]WireType{thing}), registry([]WireType{other})),
			`two different types are called "Thing"; rename one of them`,
		},
		{
			"two relations of one name",
			Merge(
				registry([]WireType{thing}).Relate([]Relation{{Of: "Thing", Name: "boss", To: "get_a"}}),
				registry([]WireType{thing}).Relate([]Relation{
					{Of: "Thing", Name: "boss", To: "get_b"}, {Of: "Thing", Name: "part", To: "get_b"},
				}),
			),
			"relation Thing.boss is defined twice: to=get_a and to=get_b",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := ""
			if err := tt.registry.Err(); err != nil {
				text = err.Error()
			}
			if text != tt.want {
				t.Errorf("error %q, want %q", text, tt.want)
			}
		})
	}
}

// A call reaches its function with the receivers of its own registry, also in a merged one.
func TestCalls(t *testing.T) {
	type request struct{ text string }
	handler := func(name string) Handler {
		return Handler{
			Name: name, Request: (*request)(nil), Result: (*string)(nil),
			Call: func(_ context.Context, receivers []any, r any) (any, error) {
				return receivers[0].(*strings.Builder).String() + r.(*request).text, nil
			},
		}
	}
	receiver := func(text string) any {
		b := new(strings.Builder)
		b.WriteString(text)
		return b
	}
	merged := Merge(
		NewRegistry([]Handler{handler("one")}, nil, receiver("1")),
		NewRegistry([]Handler{handler("two")}, nil, receiver("2")),
	)
	for i, want := range []string{"1x", "2x"} {
		o := merged.Operations()[i]
		if o.Request() != reflect.TypeFor[request]() || o.Result() != reflect.TypeFor[string]() {
			t.Errorf("%s: from %v to %v", o.Name, o.Request(), o.Result())
		}
		if got, err := o.Call(t.Context(), &request{"x"}); got != want || err != nil {
			t.Errorf("%s: %v, %v", o.Name, got, err)
		}
	}
	if nothing := registry(nil, Handler{Name: "ping"}).Operations()[0]; nothing.Result() != nil {
		t.Errorf("ping returns %v", nothing.Result())
	}
}

// A3, REQ-UP-07, REQ-UP-09: null removes what has an absent form.
func TestRemovable(t *testing.T) {
	for name, tt := range map[string]struct {
		param Param
		want  bool
	}{
		"a pointer":                            {Param{Type: "string", Nullable: true}, true},
		"a required pointer":                   {Param{Type: "string", Nullable: true, Required: true}, false},
		"an integer":                           {Param{Type: "integer"}, false},
		"an integer that results leave out":    {Param{Type: "integer", OmitEmpty: true}, true},
		"an integer with a default":            {Param{Type: "integer", Default: "3"}, true},
		"a text":                               {Param{Type: "string"}, false},
		"a boolean":                            {Param{Type: "boolean"}, false},
		"a time":                               {Param{Type: "string", Format: "date-time"}, false},
		"a time that results leave out":        {Param{Type: "string", Format: "date-time", OmitZero: true}, true},
		"a struct":                             {Param{Type: "Meta"}, false},
		"a struct that results leave out":      {Param{Type: "Meta", OmitZero: true}, true},
		"a list":                               {Param{Type: "array"}, true},
		"a list that must not be empty":        {Param{Type: "array", MinItems: 1}, false},
		"a Go array":                           {Param{Type: "array", MinItems: 2, MaxItems: 2}, false},
		"a map":                                {Param{Type: "object"}, true},
		"a required map":                       {Param{Type: "object", Required: true}, false},
		"binary data":                          {Param{Type: "string", Format: "byte"}, true},
		"what writes its own JSON":             {Param{Type: "any"}, false},
		"any value, which may be null as well": {Param{Type: "any", Nullable: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.param.Removable(); got != tt.want {
				t.Errorf("removable %t, want %t", got, tt.want)
			}
		})
	}
}
