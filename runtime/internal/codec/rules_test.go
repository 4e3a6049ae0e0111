package codec_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
)

// rules has a field for each rule. Its definitions are made by hand in ruleTypes.
type rules struct {
	Title  string
	Word   string
	Size   int8
	Level  level
	Tags   []string
	Labels map[string]string
	Tree   tree
	Notes  *string
	Inner  inner
	Spare  inner
	Count  int64
	Done   bool
	Due    time.Time
	Must   mustHave
	Made   string
	Log    []string
	Maybe  aql.Optional[int]
	Demand aql.Optional[int]
	Ratio  *float64
	Mood   level
}

type mustHave struct {
	Key  string
	Back *backward
}

// backward and mustHave contain each other.
type backward struct{ Must mustHave }

func ruleTypes() []gen.Type {
	list := func(p gen.Param, items string) gen.Param {
		p.Type, p.Items = "array", &gen.Param{Type: items, MaxLength: 5}
		return p
	}
	nested := &gen.Param{Type: "array", MaxItems: 3, Items: &gen.Param{Type: "any"}}
	return []gen.Type{
		{Name: "Rules", Kind: gen.KindObject, Fields: []gen.Param{
			{Name: "title", Go: "Title", Type: "string", Required: true, MinLength: 1, MaxLength: 3},
			{Name: "word", Go: "Word", Type: "string", Default: `"hello"`, Pattern: "^[a-z]+$", Aliases: []string{"term"}},
			{Name: "size", Go: "Size", Type: "integer", Minimum: "1", Maximum: "99.5", Default: "7"},
			{Name: "level", Go: "Level", Type: "Level", Enum: []string{"low", "high"}},
			list(gen.Param{Name: "tags", Go: "Tags", MinItems: 1, MaxItems: 2}, "string"),
			{Name: "labels", Go: "Labels", Type: "object", MaxItems: 2, Items: &gen.Param{Type: "string", MinLength: 1}},
			{Name: "tree", Go: "Tree", Type: "array", MaxItems: 2, Items: nested},
			{Name: "notes", Go: "Notes", Type: "string", Nullable: true, MinLength: 2},
			{Name: "inner", Go: "Inner", Type: "Inner"},
			{Name: "spare", Go: "Spare", Type: "Inner", OmitZero: true},
			{Name: "count", Go: "Count", Type: "integer"},
			{Name: "done", Go: "Done", Type: "boolean"},
			{Name: "due", Go: "Due", Type: "string", Format: "date-time"},
			{Name: "must", Go: "Must", Type: "Must"},
			{Name: "made", Go: "Made", Type: "string", ReadOnly: true},
			list(gen.Param{Name: "log", Go: "Log", AppendOnly: true}, "string"),
			{Name: "maybe", Go: "Maybe", Type: "integer", Nullable: true, Minimum: "0"},
			{Name: "demand", Go: "Demand", Type: "integer"},
			{Name: "ratio", Go: "Ratio", Type: "number", Minimum: "0.5", OmitEmpty: true},
			{Name: "mood", Go: "Mood", Type: "Level", Enum: []string{"low", "high"}, OmitEmpty: true},
		}},
		{Name: "Level", Kind: gen.KindEnum},
		{Name: "Inner", Kind: gen.KindObject, Fields: []gen.Param{{Name: "name", Go: "Name", Type: "string"}}},
		{Name: "Must", Kind: gen.KindObject, Fields: []gen.Param{
			{Name: "key", Go: "Key", Type: "string", Required: true}, {Name: "back", Go: "Back", Type: "Backward"},
		}},
		{Name: "Backward", Kind: gen.KindObject, Fields: []gen.Param{{Name: "must", Go: "Must", Type: "Must"}}},
		{Name: "RulesPatch", Kind: gen.KindObject, Changes: "Rules"},
	}
}

// ruleRequest is the request struct of all operations below.
type ruleRequest struct {
	ID    string
	Value rules
	Input rules
	Patch patch[rules]
}

// readRules reads a request with parameters, and returns what is wrong with it.
func readRules(t *testing.T, category gen.Category, text string, params ...gen.Param) (*ruleRequest, string) {
	t.Helper()
	decoder, err := codec.NewSet(ruleTypes()).Request(
		reflect.TypeFor[ruleRequest](), &gen.Operation{Name: "op", Category: category, Params: params},
	)
	if err != nil {
		t.Fatal(err)
	}
	request := new(ruleRequest)
	r := wire.NewReader(text, wire.Limits{})
	var given codec.Given
	if r.Object() {
		for r.NextUnchecked() {
			if !decoder.Member(r, reflect.ValueOf(request).UnsafePointer(), &given) {
				r.Unknown(nil)
			}
		}
		decoder.Complete(r, reflect.ValueOf(request).UnsafePointer(), &given)
	}
	if err := refusal(r); err != nil {
		return request, err.Error()
	}
	return request, ""
}

var valueParam = gen.Param{Name: "value", Go: "Value", Type: "Rules"}

func TestRulesOfValues(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"all is well",
			`{"title":"äöü","word":"abc","size":99,"level":"low","tags":["a","b"],"labels":{"a":"b"},"ratio":0.5}`, "",
		},
		{"a required field is missing", `{}`, "value.title: missing"},
		{"a required field is null", `{"title":null}`, "value.title: missing"},
		{"other fields are null", `{"title":"a","word":null,"tags":null,"inner":null,"notes":null,"tree":null}`, ""},
		{"too short", `{"title":""}`, "value.title: min_length 1"},
		{"too long, in code points", `{"title":"äöüß"}`, "value.title: max_length 3"},
		{"a pattern", `{"title":"a","word":"ABC"}`, "value.word: pattern ^[a-z]+$"},
		{"an alias", `{"title":"a","term":"ABC"}`, "value.term: pattern ^[a-z]+$"},
		{"too small", `{"title":"a","size":0}`, "value.size: minimum 1"},
		{"too large", `{"title":"a","size":100}`, "value.size: maximum 99"},
		{"beyond the type", `{"title":"a","size":128}`, "value.size: maximum 127"},
		{"not allowed", `{"title":"a","level":"medium"}`, `value.level: enum "low|high"`},
		{"too few", `{"title":"a","tags":[]}`, "value.tags: min_items 1"},
		{"too many", `{"title":"a","tags":["a","b","c"]}`, "value.tags: max_items 2"},
		{"an element is too long", `{"title":"a","tags":["a","bcdefg"]}`, "value.tags[1]: max_length 5"},
		{"an entry is too short", `{"title":"a","labels":{"a":""}}`, "value.labels.a: min_length 1"},
		{"too many entries", `{"title":"a","labels":{"a":"b","c":"d","e":"f"}}`, "value.labels: max_items 2"},
		{"behind a pointer", `{"title":"a","notes":"x","ratio":0.25}`, "value.notes: min_length 2\nvalue.ratio: minimum 0.5"},
		{
			"required inside", `{"title":"a","must":{"back":{"must":{}}}}`,
			"value.must.back.must.key: missing\nvalue.must.key: missing",
		},
		{"a tree with many branches", `{"title":"a","tree":[[],[],[]]}`, "value.tree: max_items 2"},
		{"its branches may have more", `{"title":"a","tree":[[[],[],[]],[]]}`, ""},
		{"but not many more", `{"title":"a","tree":[[[],[],[],[]],[]]}`, "value.tree[0]: max_items 3"},
		{"a list of the wrong kind", `{"title":"a","tags":{"a":1}}`, "value.tags: expected array, got object"},
		{"an optional that is null", `{"title":"a","maybe":null}`, ""},
		{"an optional out of range", `{"title":"a","maybe":-1}`, "value.maybe: minimum 0"},
		{
			"all at once", `{"title":"abcd","size":0,"x":1,"tags":[1]}`,
			"value.title: max_length 3\nvalue.size: minimum 1\nvalue.x: unknown\nvalue.tags[0]: expected string, got number",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := readRules(t, gen.Create, `{"value":`+c.text+`}`, valueParam); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// REQ-VO-11: the handler receives the default where the value is absent or null, and only there.
func TestDefaults(t *testing.T) {
	for text, want := range map[string]string{
		`{"title":"a"}`: "hello 7", `{"title":"a","word":null,"size":null}`: "hello 7",
		`{"title":"a","term":"x","size":1}`: "x 1",
	} {
		request, problem := readRules(t, gen.Create, `{"value":`+text+`}`, valueParam)
		if got := fmt.Sprint(request.Value.Word, " ", request.Value.Size); got != want || problem != "" {
			t.Errorf("%s: got %s %s, want %s", text, got, problem, want)
		}
	}
}

// An Optional distinguishes absence from null (design §3.1).
func TestOptional(t *testing.T) {
	input := gen.Param{Name: "input", Go: "Input", Type: "Rules"}
	for _, c := range []struct {
		text string
		want aql.Optional[int]
	}{
		{`{"title":"a"}`, aql.Optional[int]{}}, {`{"title":"a","maybe":null}`, aql.Null[int]()},
		{`{"title":"a","maybe":5}`, aql.Some(5)},
	} {
		for _, category := range []gen.Category{gen.Create, gen.Update} {
			request, problem := readRules(t, category, `{"input":`+c.text+`}`, input)
			if problem != "" || request.Input.Maybe != c.want {
				t.Errorf("%s %s: got %+v %s, want %+v", category, c.text, request.Input.Maybe, problem, c.want)
			}
		}
	}
	required := input
	required.Go, required.Type, required.Required, required.Name = "Input.Demand", "integer", true, "demand"
	if _, problem := readRules(t, gen.Create, `{"demand":null}`, required); problem != "demand: missing" {
		t.Errorf("a required optional that is null: %s", problem)
	}
}

// REQ-UP-02, REQ-UP-12, A2: in the struct input of an update, null is accepted where the definition says so, and
// protected fields are refused.
func TestStructInput(t *testing.T) {
	input := gen.Param{Name: "input", Go: "Input", Type: "Rules", Required: true}
	for text, want := range map[string]string{
		`{}`:                                          "input: missing",
		`{"input":null}`:                              "input: missing",
		`{"input":{"title":"a","notes":null}}`:        "",
		`{"input":{"title":"a","ratio":null}}`:        "input.ratio: expected number, got null",
		`{"input":{"title":null}}`:                    "input.title: expected string, got null\ninput.title: missing",
		`{"input":{"title":"a","made":"now"}}`:        "input.made: read_only \"\"",
		`{"input":{"title":"a","log":["x"]}}`:         "input.log: append_only \"\"",
		`{"input":{"title":"a","maybe":null}}`:        "",
		`{"input":{"title":"a","inner":null}}`:        "input.inner: expected object, got null",
		`{"input":[]}`:                                "input: expected object, got array",
		`{"input":{"title":"a","must":{"key":null}}}`: "input.must.key: expected string, got null\ninput.must.key: missing",
	} {
		if _, got := readRules(t, gen.Update, text, input); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// REQ-UP-03, REQ-UP-04, REQ-UP-05, REQ-UP-07, REQ-UP-09, REQ-UP-12: what a patch may contain.
func TestPatchRules(t *testing.T) {
	param := gen.Param{Name: "input", Go: "Patch", Type: "RulesPatch", Required: true}
	resource := func() *rules {
		notes := "old"
		return &rules{
			Title:  "a",
			Word:   "b",
			Size:   3,
			Level:  "low",
			Notes:  &notes,
			Labels: map[string]string{"x": "1", "y": "2"},
			Must: mustHave{
				Key:  "k",
				Back: &backward{Must: mustHave{Key: "deep"}},
			},
			Maybe: aql.Some(4),
			Mood:  "high",
			Spare: inner{Name: "s"},
		}
	}
	for _, c := range []struct {
		name, text, want string
		check            func(r *rules) bool
	}{
		{
			"nothing changes", `{}`, "",
			func(r *rules) bool { return cmp.Equal(r.Labels, resource().Labels) && *r.Notes == "old" },
		},
		{"a value replaces", `{"title":"b"}`, "", func(r *rules) bool { return r.Title == "b" && r.Word == "b" }},
		{"null for what is required", `{"title":null}`, "input.title: expected string, got null", nil},
		{
			"null for what has a default", `{"word":null,"size":null}`, "",
			func(r *rules) bool { return r.Word == "hello" && r.Size == 7 },
		},
		{"null for an enum", `{"level":null}`, "input.level: expected string, got null", nil},
		{
			"null for an enum that is left out when it is empty", `{"mood":null}`, "",
			func(r *rules) bool { return r.Mood == "" },
		},
		{"null for a pointer", `{"notes":null,"ratio":null}`, "", func(r *rules) bool { return r.Notes == nil }},
		{
			"null for an entry", `{"labels":{"x":null,"z":"3"}}`, "",
			func(r *rules) bool { return cmp.Equal(r.Labels, map[string]string{"y": "2", "z": "3"}) },
		},
		{"null for an optional", `{"maybe":null}`, "", func(r *rules) bool { return r.Maybe == aql.Null[int]() }},
		{"a value for an optional", `{"maybe":5}`, "", func(r *rules) bool { return r.Maybe == aql.Some(5) }},
		{"A3: null for an integer", `{"count":null}`, "input.count: expected integer, got null", nil},
		{"A3: null for a boolean", `{"done":null}`, "input.done: expected boolean, got null", nil},
		{"A3: null for a time", `{"due":null}`, "input.due: expected string, got null", nil},
		{"A3: null for a struct", `{"inner":null}`, "input.inner: expected object, got null", nil},
		{"A3: null for a list that must not be empty", `{"tags":null}`, "input.tags: expected array, got null", nil},
		{"null for a struct that results leave out", `{"spare":null}`, "", func(r *rules) bool { return r.Spare == inner{} }},
		{"null for a map", `{"labels":null}`, "", func(r *rules) bool { return r.Labels == nil }},
		{
			"the same inside types that contain each other", `{"must":{"back":{"must":null}}}`,
			"input.must.back.must: expected object, got null", nil,
		},
		{
			"a change deep inside", `{"must":{"back":{"must":{"key":"new"}}}}`, "",
			func(r *rules) bool { return r.Must.Key == "k" && r.Must.Back.Must.Key == "new" },
		},
		{"a read-only field", `{"made":"x"}`, `input.made: read_only ""`, nil},
		{"an append-only field", `{"log":[]}`, `input.log: append_only ""`, nil},
		{"an unknown field", `{"titel":"x"}`, "input.titel: unknown", nil},
		{"an unknown field inside", `{"inner":{"x":1}}`, "input.inner.x: unknown", nil},
		{"a wrong type inside", `{"labels":{"x":1}}`, "input.labels.x: expected string, got number", nil},
		{"a constraint", `{"tags":["a","b","c"]}`, "input.tags: max_items 2", nil},
		{"no object", `"x"`, "input: expected object, got string", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			request, problem := readRules(t, gen.Update, `{"input":`+c.text+`}`, param)
			if problem != c.want {
				t.Fatalf("got  %s\nwant %s", problem, c.want)
			}
			if c.check == nil {
				return
			}
			r := resource()
			if !apply(&request.Patch.Body, request.Patch.Body.Raw(), reflect.ValueOf(r)) || !c.check(r) {
				t.Errorf("merged to %+v", r)
			}
		})
	}
}

// A merged map may be too large although the patch is not.
func TestPatchThatOverfillsAMap(t *testing.T) {
	request, problem := readRules(
		t, gen.Update, `{"input":{"labels":{"z":"3"}}}`, gen.Param{Name: "input", Go: "Patch", Type: "RulesPatch"},
	)
	if problem != "" {
		t.Fatal(problem)
	}
	r := &rules{Labels: map[string]string{"x": "1", "y": "2"}}
	if apply(&request.Patch.Body, request.Patch.Body.Raw(), reflect.ValueOf(r)) || len(r.Labels) != 2 {
		t.Errorf("merged to %+v", r.Labels)
	}
}

// More than 64 parameters: which of them were given does not fit one word.
func TestManyParameters(t *testing.T) {
	var fields []reflect.StructField
	var params []gen.Param
	for i := range 200 {
		name := fmt.Sprintf("F%d", i)
		fields = append(fields, reflect.StructField{Name: name, Type: reflect.TypeFor[int]()})
		params = append(
			params,
			gen.Param{
				Name: strings.ToLower(name), Go: name, Type: "integer", Required: i%3 == 0,
				Default: map[bool]string{true: "5"}[i%3 == 1],
			},
		)
	}
	goType := reflect.StructOf(fields)
	decoder, err := codec.NewSet(nil).Request(goType, &gen.Operation{Name: "op", Params: params})
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{0, 1, 63, 64, 66, 127, 128, 198, 199} {
		var text strings.Builder
		for i := range params {
			if i != left {
				fmt.Fprintf(&text, ",%q:%d", params[i].Name, i)
			}
		}
		r := wire.NewReader("{"+text.String()[1:]+"}", wire.Limits{})
		request := reflect.New(goType)
		var given codec.Given
		r.Object()
		for r.NextUnchecked() {
			if !decoder.Member(r, request.UnsafePointer(), &given) {
				t.Fatalf("%s is not known", r.Name())
			}
		}
		decoder.Complete(r, request.UnsafePointer(), &given)
		want, missing := int64(0), ""
		switch left % 3 {
		case 0:
			missing = params[left].Name + ": missing"
		case 1:
			want = 5
		}
		problem := ""
		if err := refusal(r); err != nil {
			problem = err.Error()
		}
		if got := request.Elem().Field(left).Int(); got != want || problem != missing {
			t.Errorf("without %s: got %d %q, want %d %q", params[left].Name, got, problem, want, missing)
		}
		if got := request.Elem().Field((left + 100) % 200).Int(); got != int64((left+100)%200) {
			t.Errorf("without %s: another field is %d", params[left].Name, got)
		}
	}
}

// A bound is compared with what the field can hold: 0.1 as a float32 is a little more than 0.1.
func TestBoundsOfSmallFloats(t *testing.T) {
	type request struct{ Ratio float32 }
	operation := gen.Operation{
		Name: "get", Params: []gen.Param{{Name: "ratio", Go: "Ratio", Type: "number", Minimum: "0.1", Maximum: "0.1"}},
	}
	decoder, err := codec.NewSet(nil).Request(reflect.TypeFor[request](), &operation)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{`{"ratio":0.1}`: true, `{"ratio":0.09}`: false, `{"ratio":0.11}`: false} {
		r := wire.NewReader(text, wire.Limits{})
		var q request
		var given codec.Given
		r.Object()
		for r.NextUnchecked() {
			decoder.Member(r, reflect.ValueOf(&q).UnsafePointer(), &given)
		}
		if r.OK() != ok {
			t.Errorf("%s: %v", text, r.Problems())
		}
	}
}

// A7, REQ-DE-05, REQ-VO-10: strings of the formats date-time and date are checked, in lists and where a type reads
// itself too. Other formats are hints.
func TestFormatsOfStrings(t *testing.T) {
	type request struct {
		Text  string
		Texts []string
		Maybe aql.Optional[string]
		Own   *hexText
	}
	text := func(name, field, format string) gen.Param {
		return gen.Param{Name: name, Go: field, Type: "string", Format: format}
	}
	list := gen.Param{Name: "dates", Go: "Texts", Type: "array", Items: &gen.Param{Type: "string", Format: "date"}}
	for _, c := range []struct {
		param           gen.Param
		accepted        []string
		refused, reason string
	}{
		{
			text("at", "Text", "date-time"), []string{`"2026-02-04T10:30:00Z"`, `"2026-02-04T10:30:00.25-08:00"`}, `"yesterday"`,
			"at: expected date-time, got string",
		},
		{text("on", "Text", "date"), []string{`"2024-02-29"`}, `"2026-02-29"`, "on: expected date, got string"},
		{text("on", "Text", "date"), []string{"null"}, `""`, "on: expected date, got string"},
		{text("on", "Text", "date"), nil, `20260204`, "on: expected string, got number"},
		{list, []string{`[]`, `["2026-02-04"]`}, `["2026-02-04","soon"]`, "dates[1]: expected date, got string"},
		{text("on", "Maybe", "date"), []string{"null", `"2026-02-04"`}, `"soon"`, "on: expected date, got string"},
		{text("on", "Own", "date"), nil, `"<soon>"`, "on: expected date, got string"},
		{text("id", "Text", "uuid"), []string{`"x"`}, "", ""},
		{text("mail", "Text", "email"), []string{`"x"`}, "", ""},
		{text("at", "Text", "time"), []string{`"x"`}, "", ""},
	} {
		decoder, err := codec.NewSet(nil).Request(
			reflect.TypeFor[request](), &gen.Operation{Name: "get", Params: []gen.Param{c.param}},
		)
		if err != nil {
			t.Fatal(err)
		}
		read := func(value string) string {
			r := wire.NewReader(`{"`+c.param.Name+`":`+value+`}`, wire.Limits{})
			var q request
			var given codec.Given
			r.Object()
			for r.NextUnchecked() {
				decoder.Member(r, reflect.ValueOf(&q).UnsafePointer(), &given)
			}
			if err := refusal(r); err != nil {
				return err.Error()
			}
			return ""
		}
		for _, value := range c.accepted {
			if reason := read(value); reason != "" {
				t.Errorf("%s of the format %s: %s is refused: %s", c.param.Go, c.param.Format, value, reason)
			}
		}
		if c.refused == "" {
			continue
		}
		if diff := cmp.Diff(c.reason, read(c.refused)); diff != "" {
			t.Errorf("%s of the format %s, %s (-want +got):\n%s", c.param.Go, c.param.Format, c.refused, diff)
		}
	}
	due := gen.Param{Name: "on", Go: "Text", Type: "string", Format: "date", Default: `"soon"`}
	_, err := codec.NewSet(nil).Request(reflect.TypeFor[request](), &gen.Operation{Name: "get", Params: []gen.Param{due}})
	if err == nil {
		t.Error("a default that is no date is compiled")
	}
}
