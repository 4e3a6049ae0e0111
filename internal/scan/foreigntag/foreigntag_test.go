package foreigntag

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateRules(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Rule
	}{
		{"none", "", nil},
		{"a flag and a parameter", "required,min=1", []Rule{
			{Name: "required", Offset: 0, End: 8}, {Name: "min", Param: "1", Offset: 9, End: 14},
		}},
		{"rules of elements", "max=5,dive,min=2,dive,email", []Rule{
			{Name: "max", Param: "5", Offset: 0, End: 5}, {Name: "dive", Offset: 6, End: 10, Depth: 1},
			{Name: "min", Param: "2", Offset: 11, End: 16, Depth: 1},
			{Name: "dive", Offset: 17, End: 21, Depth: 2}, {Name: "email", Offset: 22, End: 27, Depth: 2},
		}},
		{"rules of keys", "dive,keys,min=1,endkeys,required", []Rule{
			{Name: "dive", Offset: 0, End: 4, Depth: 1}, {Name: "min", Param: "1", Offset: 10, End: 15, Depth: 1, Key: true},
			{Name: "required", Offset: 24, End: 32, Depth: 1},
		}},
		{"a parameter with an equals sign", "eq=a=b", []Rule{{Name: "eq", Param: "a=b", Offset: 0, End: 6}}},
		{"a parameter keeps its spaces", "oneof= a b ", []Rule{{Name: "oneof", Param: " a b ", Offset: 0, End: 11}}},
		{"alternatives", "rgb|rgba", []Rule{{Name: "rgb", Offset: 0, End: 8, Alternatives: []Rule{
			{Name: "rgb", Offset: 0, End: 3}, {Name: "rgba", Offset: 4, End: 8},
		}}}},
		{"escaped comma and bar", "startswith=a0x2Cb0x7Cc", []Rule{{Name: "startswith", Param: "a,b|c", Offset: 0, End: 22}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := ParseValidate(tt.text)
			if len(problems) > 0 {
				t.Errorf("problems %+v", problems)
			}
			for i := range got {
				for j := range got[i].Alternatives {
					got[i].Alternatives[j].Alternatives = nil
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What validator panics at is told, and the rules are taken as they were meant.
func TestValidateMistakes(t *testing.T) {
	type mistake struct{ At, Message string }
	tests := []struct {
		text  string
		rules []string
		want  []mistake
	}{
		{
			",required,,", []string{"required"},
			[]mistake{{",", "a rule is empty"}, {",", "a rule is empty"}, {",", "a rule is empty"}},
		},
		{" ", nil, []mistake{{" ", "a rule is empty"}}},
		{"required, min=1", []string{"required", "min"}, []mistake{{" ", "a space stands before the rule"}}},
		{"required ,min=1", []string{"required", "min"}, []mistake{{" ", "a space stands behind the rule"}}},
		{"keys,min=1", []string{"min"}, []mistake{{"keys", "keys does not stand right behind dive"}}},
		{"dive,keys,min=1", []string{"dive", "min"}, []mistake{{"keys", "keys has no endkeys"}}},
		{"dive,endkeys", []string{"dive"}, []mistake{{"endkeys", "endkeys has no keys before it"}}},
		{"alpha||ascii", []string{"alpha|ascii"}, []mistake{{"|", "a rule has no name"}}},
		{"alpha|", []string{"alpha"}, []mistake{{"|", "a rule has no name"}}},
		{"=1", nil, []mistake{{"=1", "a rule has no name"}}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			rules, problems := ParseValidate(tt.text)
			var names []string
			for _, rule := range rules {
				names = append(names, rule.String())
			}
			if diff := cmp.Diff(tt.rules, names); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
			var got []mistake
			for _, problem := range problems {
				got = append(got, mistake{
					tt.text[problem.Offset:problem.End], strings.TrimSuffix(problem.Message, ", at which validator panics"),
				})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"red green": {"red", "green"}, "'dark red'  blue ": {"dark red", "blue"}, "": nil, "'open": {"open"},
		"1\t2":    {"1", "2"},
		"a'b c'd": {"ab", "cd"}, "'a'b ''": {"a", "b", ""},
	} {
		if diff := cmp.Diff(want, Words(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestSchemaStyles(t *testing.T) {
	tests := []struct {
		name, text string
		want       []SchemaItem
	}{
		{"flags alone are items", "required", []SchemaItem{{Key: "required", Flag: true, End: 8}}},
		{
			"items", `title=Name,enum=a\,b`,
			[]SchemaItem{{Key: "title", Value: "Name", End: 10}, {Key: "enum", Value: "a,b", Offset: 11, End: 20}},
		},
		{
			"an unknown key in front is an item all the same", "colour=red",
			[]SchemaItem{{Key: "colour", Value: "red", End: 10}},
		},
		{"a description", "the city to look up", nil},
		{"a description with commas and equals signs", "the city, such as a=b, required", nil},
		{"a description that begins with a key", "required for all", nil},
		{"one word is a description, even if it is a key", "title", nil},
		{
			"flags", "required,nullable",
			[]SchemaItem{{Key: "required", Flag: true, End: 8}, {Key: "nullable", Flag: true, Offset: 9, End: 17}},
		},
		{"items before a comma that nothing protects", "required,description=what, and when", []SchemaItem{
			{Key: "required", Flag: true, End: 8}, {Key: "description", Value: "what", Offset: 9, End: 25},
			{Key: " and when", Flag: true, Offset: 26, End: 35},
		}},
		{
			"a backslash that protects no comma", `pattern=^\d{1\,2}$`,
			[]SchemaItem{{Key: "pattern", Value: `^\d{1,2}$`, End: 18}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ParseSchema(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("ok %t: %s", ok, diff)
			}
		})
	}
}

// Offsets lie in the text and rules do not overlap, whatever the text.
func FuzzValidate(f *testing.F) {
	for _, text := range []string{
		"required,min=1,dive,keys,max=2,endkeys,oneof='a b' c|email", " ,a |b", "dive,keys|", "=|=", "é=0x2C",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		rules, problems := ParseValidate(text)
		for _, rule := range rules {
			if rule.Offset < last || rule.End > len(text) || rule.Offset >= rule.End || rule.Name == "" ||
				rule.Depth > strings.Count(text, "dive") {
				t.Fatalf("rule %+v", rule)
			}
			last = rule.Offset
			for _, alternative := range rule.Alternatives {
				if alternative.Offset < last || alternative.End > rule.End ||
					!strings.HasPrefix(text[alternative.Offset:], alternative.Name) {
					t.Fatalf("alternative %+v of %+v", alternative, rule)
				}
				last = alternative.End
			}
			last = rule.End
			for _, word := range Words(rule.Param) {
				if strings.Contains(word, "'") {
					t.Fatalf("word %q", word)
				}
			}
		}
		for _, problem := range problems {
			if problem.Offset < 0 || problem.Offset >= problem.End || problem.End > len(text) {
				t.Fatalf("problem %+v", problem)
			}
		}
	})
}

// Items follow each other without a gap, and a text is either items or a description.
func FuzzSchema(f *testing.F) {
	for _, text := range []string{`title=x\,y,enum=a,description=`, "required", "the city, a=b", `\`, `a=\,`, "=", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, ok := ParseSchema(text)
		if ok == (items == nil) {
			t.Fatalf("ok %t with %+v", ok, items)
		}
		next := 0
		for _, item := range items {
			if item.Offset != next || item.End > len(text) || item.Offset > item.End || item.Flag && item.Value != "" {
				t.Fatalf("item %+v", item)
			}
			next = item.End + 1
		}
		if ok && next != len(text)+1 {
			t.Fatalf("items end at %d of %d", next, len(text))
		}
	})
}
