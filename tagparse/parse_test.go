package tagparse

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		scope      Scope
		want       []Item
	}{
		{"flags and values", "required,minlen=1", Parameter, []Item{
			{
				Key: "required", Flag: true, KeyOffset: 0, ValueOffset: 8, End: 8,
			}, {Key: "minlen", Value: "1", KeyOffset: 9, ValueOffset: 16, End: 17}}},
		{"spaces around items", " required , min = -1.5e3 ", Parameter, []Item{
			{
				Key: "required", Flag: true, KeyOffset: 1, ValueOffset: 9, End: 9,
			}, {Key: "min", Value: "-1.5e3", KeyOffset: 12, ValueOffset: 18, End: 24}}},
		{"quotes keep commas and double themselves", "default='a, ''b'''", Parameter, []Item{
			{Key: "default", Value: "a, 'b'", KeyOffset: 0, ValueOffset: 8, End: 18}}},
		{"lists", "enum=a|'b,c'|d", Parameter, []Item{
			{Key: "enum", Value: "a|b,c|d", List: []string{"a", "b,c", "d"}, KeyOffset: 0, ValueOffset: 5, End: 14}}},
		{"a bar outside a list is text", "pattern=^(a|b)$", Parameter, []Item{
			{Key: "pattern", Value: "^(a|b)$", KeyOffset: 0, ValueOffset: 8, End: 15}}},
		{"an operation", "category=UPDATE,danger=reversible,timeout=30s,deprecated", Operation, []Item{
			{Key: "category", Value: "UPDATE", KeyOffset: 0, ValueOffset: 9, End: 15},
			{Key: "danger", Value: "reversible", KeyOffset: 16, ValueOffset: 23, End: 33},
			{
				Key: "timeout", Value: "30s", KeyOffset: 34, ValueOffset: 42, End: 45,
			}, {Key: "deprecated", Flag: true, KeyOffset: 46, ValueOffset: 56, End: 56}}},
		{"deprecated with a reason", "deprecated='use size'", Parameter, []Item{
			{Key: "deprecated", Value: "use size", KeyOffset: 0, ValueOffset: 11, End: 21}}},
		{"nothing", "", Parameter, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := Parse(tt.text, tt.scope)
			if diff := cmp.Diff(tt.want, got); diff != "" || problems != nil {
				t.Errorf("items (-want +got):\n%s\nproblems: %+v", diff, problems)
			}
		})
	}
}

// Every mistake of a tag is reported, at its bytes, with what to do.
func TestProblems(t *testing.T) {
	type problem struct{ At, Code, Message, Suggestion string }
	for _, tt := range []struct {
		text  string
		scope Scope
		want  []problem
	}{
		{"catagory=READ,danger=destructiv", Operation, []problem{
			{"catagory", codeName, `there is no key "catagory"`, "category"},
			{
				"destructiv", codeType, `key "danger" takes one of safe, reversible, destructive, dangerous, forbidden`,
				"destructive",
			}}},
		{
			"category=read", Operation,
			[]problem{{"read", codeType, `key "category" takes one of CREATE, READ, UPDATE, DELETE, EXECUTE`, "READ"}},
		},
		{
			"category=READ,minlen=1", Operation,
			[]problem{
				{"minlen", codeName, `key "minlen" belongs on an ordinary field, not here`, "move it to an ordinary field"},
			},
		},
		{
			"danger=safe", Parameter,
			[]problem{
				{"danger", codeName, `key "danger" belongs on the blank field '_', not here`, "move it to the blank field '_'"},
			},
		},
		{"required=true,min=ten,maxlen=-1", Parameter, []problem{
			{"required=true", codeType, `key "required" takes no value`, "required"},
			{"ten", codeType, `key "min" takes a number`, ""},
			{"-1", codeType, `key "maxlen" takes a whole number, 0 or more`, ""}}},
		{"min,pattern=", Parameter, []problem{
			{
				"min", codeMissing, `key "min" needs a value`, "min=1",
			}, {"pattern=", codeMissing, `key "pattern" needs a value`, "pattern='^[a-z]+$'"}}},
		{
			"min=1,min=2", Parameter,
			[]problem{{"min", codeDuplicate, `key "min" stands twice in this tag`, "remove one of them"}},
		},
		{"min=2,max=1,minlen=3,maxlen=2", Parameter, []problem{
			{
				"max=1", codeType, "min=2 is above max=1: no value can satisfy both", "",
			}, {"maxlen=2", codeType, "minlen=3 is above maxlen=2: no value can satisfy both", ""}}},
		{"default='x", Parameter, []problem{{"'x", codeType, "the closing quote is missing", "close the value with '"}}},
		{
			"default='x'y,required", Parameter,
			[]problem{{"y", codeType, "text follows the closing quote", "write '' for a quote inside a quoted value"}},
		},
		{"required,", Parameter, []problem{{",", codeMissing, "nothing follows the comma", "remove the comma"}}},
		{",required", Parameter, []problem{{",", codeMissing, "a key is missing here", "remove the comma or name a key"}}},
		{
			"timeout=fast,category=READ", Operation,
			[]problem{{"fast", codeType, `key "timeout" takes a duration such as 30s or 2m`, ""}},
		},
		{"zzzzzz", Parameter, []problem{{"zzzzzz", codeName, `there is no key "zzzzzz"`, ""}}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, problems := Parse(tt.text, tt.scope)
			var got []problem
			for _, p := range problems {
				got = append(got, problem{tt.text[p.Offset:p.End], p.Code, p.Message, p.Suggestion})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// One broken item does not hide the sound ones.
func TestSoundItemsSurvive(t *testing.T) {
	items, problems := Parse("requird,minlen=1,max=x,desc=ok", Parameter)
	if got := printItems(items); got != "minlen=1,desc=ok" || len(problems) != 2 {
		t.Errorf("items %s, problems %+v", got, problems)
	}
}

func TestSuggest(t *testing.T) {
	candidates := []string{"required", "readonly", "min", "max", "minlen"}
	for word, want := range map[string]string{
		"requierd": "required", "Required": "required", "readnly": "readonly", "mn": "min", "xyz": "", "": "",
		"mineln": "minlen",
	} {
		if got, _ := suggest(word, candidates); got != want {
			t.Errorf("suggest(%q) is %q, want %q", word, got, want)
		}
	}
}

func TestStructTag(t *testing.T) {
	for _, literal := range []string{
		"`json:\"title\" aql:\"required,minlen=1\"`", `"json:\"title\" aql:\"required,minlen=1\""`,
	} {
		pairs, problems := StructTag(literal)
		if len(pairs) != 2 || problems != nil {
			t.Fatalf("%s: %+v, %+v", literal, pairs, problems)
		}
		aql := pairs[1]
		if aql.Key != "aql" || aql.Value != "required,minlen=1" || !strings.HasPrefix(literal[aql.KeyOffset:], "aql:") ||
			!strings.HasPrefix(literal[aql.ValueOffset:], "required") {
			t.Errorf("%s: %+v", literal, aql)
		}
		if at := aql.Map(strings.Index(aql.Value, "minlen")); !strings.HasPrefix(literal[at:], "minlen=1") {
			t.Errorf("%s: minlen maps to %q", literal, literal[at:])
		}
	}
	// An escape inside a value shifts what stands behind it.
	literal := "`aql:\"pattern='\\\\d',minlen=1\"`"
	pairs, _ := StructTag(literal)
	if at := pairs[0].Map(strings.Index(pairs[0].Value, "minlen")); !strings.HasPrefix(literal[at:], "minlen=1") {
		t.Errorf("minlen maps to %q", literal[at:])
	}
}

// What reflect passes over in silence is reported.
func TestStructTagProblems(t *testing.T) {
	for literal, want := range map[string]string{
		"`aql:required`":      `the value of "aql" is not in double quotes; reflect sees nothing from here on`,
		"`aql: \"required\"`": `a space stands between "aql:" and its value; reflect sees nothing from here on`,
		"`aql`":               `key "aql" has no value; reflect sees nothing from here on`,
		"`aql:\"required`":    `the value of "aql" has no closing quote; reflect does not see it`,
		"`aq1:\"required\"`":  `struct tag key "aq1" is ignored; it looks like "aql"`,
		"`AQL:\"required\"`":  `struct tag key "AQL" is ignored; it looks like "aql"`,
		// reflect reads on
		"`json:\"a\"aql:\"required\"`": "a space is missing between two keys of the struct tag; go vet and other " +
			"tools refuse it",
		"`aql:\"required\" aql:\"sensitive\"`": `key "aql" stands twice in this struct tag; reflect sees only the first`,
	} {
		_, problems := StructTag(literal)
		if len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%s: %+v, want %s", literal, problems, want)
		}
	}
}

func TestParseDirective(t *testing.T) {
	line := `aql:example {"a":"}"} What it shows`
	d, problems, ok := ParseDirective(line)
	if !ok || problems != nil || d.Name != "example" || d.Example != `{"a":"}"}` || d.Description != "What it shows" ||
		line[d.TextOffset:] != d.Text {
		t.Errorf("example: %+v, %+v, %v", d, problems, ok)
	}
	line = "aql:param limit min=1,mx=100"
	d, problems, ok = ParseDirective(line)
	if !ok || d.Param != "limit" || len(d.Items) != 1 || line[d.Items[0].KeyOffset:d.Items[0].End] != "min=1" ||
		len(problems) != 1 || line[problems[0].Offset:problems[0].End] != "mx" {
		t.Errorf("param: %+v, %+v, %v", d, problems, ok)
	}
	for line, want := range map[string][2]string{
		"aql:confirm Delete '{id}'?":           {"", "Delete '{id}'?"},
		"aql:confirm type={id}":                {"id", ""},
		"aql:confirm \ttype={id}  Delete it? ": {"id", "Delete it?"},
		"aql:confirm Is type={id} right?":      {"", "Is type={id} right?"},
	} {
		d, problems, _ := ParseDirective(line)
		if len(problems) > 0 || d.Param != want[0] || d.Text != want[1] || line[d.ParamOffset:][:len(want[0])] != want[0] ||
			!strings.HasPrefix(line[d.TextOffset:], want[1]) {
			t.Errorf("%s: %+v, %+v", line, d, problems)
		}
	}
	for _, first := range []string{"type=id", "type={}", "type=", "type={id", "type={{id}}", "type={id}Delete"} {
		line := "aql:confirm " + first + " Delete?"
		if _, problems, _ := ParseDirective(line); len(problems) != 1 ||
			line[problems[0].Offset:problems[0].End] != first ||
			problems[0].Message != "directive //aql:confirm does not say whose value a person types" {
			t.Errorf("%s: %+v", line, problems)
		}
	}
	for line, want := range map[string]string{
		"aql:exmple {}":       "there is no directive //aql:exmple",
		"aql:reason":          "directive //aql:reason needs a text",
		"aql:example [1]":     "the example is not a JSON object",
		"aql:param limit":     "directive //aql:param limit says nothing about it",
		" aql:reason x":       "this comment looks like a directive but is not one",
		"aql:op catgory=READ": `there is no key "catgory"`,
	} {
		if _, problems, _ := ParseDirective(line); len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%s: %+v, want %s", line, problems, want)
		}
	}
	for _, line := range []string{" A comment about aql tags.", "go:generate aql", "nolint"} {
		if _, problems, ok := ParseDirective(line); ok || problems != nil {
			t.Errorf("%q is taken for a directive: %+v", line, problems)
		}
	}
}

// No input panics; what is reported lies inside the text; and parse → print → parse is stable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"required,minlen=1", "enum=a|'b,''c'|", "default='", "pattern=^a|b$,,=,min= 1 ", "category=READ,op='x y'", "ids=|'|'",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, operation bool) {
		scope := Parameter
		if operation {
			scope = Operation
		}
		items, problems := Parse(text, scope)
		for _, p := range problems {
			if p.Offset < 0 || p.Offset >= p.End || p.End > len(text) || p.Message == "" || p.Expected == "" {
				t.Fatalf("%q: problem %+v", text, p)
			}
		}
		for _, item := range items {
			if item.KeyOffset < 0 || item.KeyOffset > item.ValueOffset || item.ValueOffset > item.End || item.End > len(text) {
				t.Fatalf("%q: item %+v", text, item)
			}
			if written := text[item.ValueOffset:item.End]; item.List == nil && !strings.HasPrefix(written, "'") &&
				written != item.Value {
				t.Fatalf("%q: the bare value %q is read as %q", text, written, item.Value)
			}
			if !item.Flag && item.ValueOffset == item.End {
				t.Fatalf("%q: item %+v has no value and is no flag", text, item)
			}
		}
		printed := printItems(items)
		again, more := Parse(printed, scope)
		if printed2 := printItems(again); printed2 != printed {
			t.Fatalf("%q prints as %q, and that as %q", text, printed, printed2)
		}
		if len(problems) == 0 && (len(more) > 0 || len(again) != len(items)) {
			t.Fatalf("%q prints as %q, which has problems %+v", text, printed, more)
		}
		for i := range min(len(items), len(again)) {
			if items[i].Key != again[i].Key || items[i].Value != again[i].Value || !cmp.Equal(items[i].List, again[i].List) {
				t.Fatalf("%q: item %+v becomes %+v", text, items[i], again[i])
			}
		}
	})
}

// A tag without problems is read as reflect reads it.
func FuzzStructTag(f *testing.F) {
	for _, seed := range []string{`json:"a" aql:"b"`, `aql:"\"x\\"`, `a:"" b:"é\t"`, ` x:"y"z:"w"`, `aql:`, `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		if strings.ContainsAny(tag, "`\r") {
			return
		}
		literal := "`" + tag + "`"
		pairs, problems := StructTag(literal)
		for _, p := range problems {
			if p.Offset < 0 || p.Offset > p.End || p.End > len(literal) {
				t.Fatalf("%q: problem %+v", literal, p)
			}
		}
		seen := map[string]bool{}
		for _, pair := range pairs {
			seen[pair.Key] = true
			last := -1
			for i := range len(pair.Value) + 1 {
				at := pair.Map(i)
				if at < last || at >= len(literal) {
					t.Fatalf("%q: offset %d of %q maps to %d", literal, i, pair.Value, at)
				}
				last = at
			}
			if len(problems) > 0 {
				continue
			}
			if value, ok := reflect.StructTag(tag).Lookup(pair.Key); !ok || value != pair.Value {
				t.Fatalf("%q: %s is %q, reflect says %q, %v", literal, pair.Key, pair.Value, value, ok)
			}
		}
		for _, key := range []string{"aql", "json", "a", "0"} {
			if _, ok := reflect.StructTag(tag).Lookup(key); ok && !seen[key] && len(problems) == 0 {
				t.Fatalf("%q: reflect sees %s, and it is passed over in silence", literal, key)
			}
		}
	})
}

func FuzzParseDirective(f *testing.F) {
	for _, seed := range []string{
		`aql:example {"a":1} x`, "aql:op category=READ", "aql:param x min=1", "aql:", " aql:op", "aql:reason \t",
		"aql:confirm type={x} y", "aql:confirm type={",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		d, problems, _ := ParseDirective(line)
		for _, p := range problems {
			if p.Offset < 0 || p.Offset >= p.End || p.End > len(line) {
				t.Fatalf("%q: problem %+v", line, p)
			}
		}
		if d.TextOffset < 0 || d.TextOffset > len(line) || d.ParamOffset < 0 || d.ParamOffset > len(line) {
			t.Fatalf("%q: %+v", line, d)
		}
	})
}
