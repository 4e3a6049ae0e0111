package tagparse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Only the values of lists are split at bars; any other bare value is taken as it stands, to the next comma (design
// §3.2).
func TestValuesOfOtherKeysAreNotSplitAtBars(t *testing.T) {
	for text, want := range map[string]string{
		"desc=this | that,required": "this | that",
		"pattern=a|'b":              "a|'b",
		"default=x||y":              "x||y",
		"format='a'":                "a",
		"desc=don't":                "don't",
		"default=''":                "",
		"desc=''":                   "",
	} {
		items, problems := Parse(text, Parameter)
		if len(problems) > 0 || items[0].Value != want {
			t.Errorf("Parse(%q) = %+v, %+v, want the value %q", text, items, problems, want)
		}
	}
}

// What says nothing, or the opposite of what it does, is a mistake and not a value.
func TestMistakesThatLookLikeValues(t *testing.T) {
	type problem struct{ At, Code, Message, Suggestion string }
	const yesNo = `key "deprecated" takes no value, or a text that says why`
	const stray = "text follows the closing quote"
	for text, want := range map[string][]problem{
		"name=":   {{"name=", codeMissing, `key "name" needs a value`, "name=…"}},
		"name=''": {{"name=''", codeMissing, `key "name" needs a value`, "name=…"}},
		"enum=":   {{"enum=", codeMissing, `key "enum" needs a value`, "enum=a|b, or write '' for the empty text"}},
		"default=": {{
			"default=", codeMissing, `key "default" needs a value`, "default=…, or write '' for the empty text",
		}},
		"enum=a||b": {{
			"|", codeMissing, `an element of "enum" is empty`, "remove one |, or write '' for the empty text",
		}},
		"alias=a|":         {{"|", codeMissing, `an element of "alias" is empty`, "remove one |"}},
		"alias=a|''":       {{"|''", codeMissing, `an element of "alias" is empty`, "remove one |"}},
		"deprecated=false": {{"false", codeType, yesNo, "remove it"}},
		"deprecated=true":  {{"true", codeType, yesNo, "deprecated"}},
		"min=x,min=1": {
			{"x", codeType, `key "min" takes a number`, ""},
			{"min", codeDuplicate, `key "min" stands twice in this tag`, "remove one of them"},
		},
		"pattern='a'|b": {{"|b", codeType, stray, "write '' for a quote inside a quoted value"}},
		"desc='don't do, this',min=x": {
			{"t do, this'", codeType, stray, "write '' for a quote inside a quoted value: 'don''t do, this'"},
			{"x", codeType, `key "min" takes a number`, ""},
		},
		"desc='a'b,pattern='c',min=x": {
			{"b", codeType, stray, "write '' for a quote inside a quoted value"},
			{"x", codeType, `key "min" takes a number`, ""},
		},
	} {
		_, problems := Parse(text, Parameter)
		var got []problem
		for _, p := range problems {
			got = append(got, problem{text[p.Offset:p.End], p.Code, p.Message, p.Suggestion})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestEnumMayHoldTheEmptyText(t *testing.T) {
	items, problems := Parse("enum=''|a", Parameter)
	if len(problems) > 0 || !cmp.Equal(items[0].List, []string{"", "a"}) {
		t.Errorf("got %+v, %+v", items, problems)
	}
	if got := printItems(items); got != "enum=''|a" {
		t.Errorf("printed as %s", got)
	}
}

func TestStructTagsSayHowToWriteIt(t *testing.T) {
	for literal, want := range map[string][2]string{
		"`aql :\"required\"`":            {" ", "remove the space"},
		"`category=READ, danger=safe`":   {"category=READ, danger=safe", `aql:"category=READ, danger=safe"`},
		"`json:\"a\" required,min=1`":    {"required,min=1", `aql:"required,min=1"`},
		"`json:\"a\"aql:\"required\"`":   {"a", "put a space here"},
		"`json:\"a\", aql:\"required\"`": {",", "remove the comma"},
		"`json:\"a\",aql:\"required\"`":  {",", "replace the comma by a space"},
		"`json:\"a\";aql:\"required\"`":  {";", "replace the semicolon by a space"},
	} {
		_, problems := StructTag(literal)
		if len(problems) == 0 {
			t.Errorf("StructTag(%s) reports nothing", literal)
			continue
		}
		if got := [2]string{literal[problems[0].Offset:problems[0].End], problems[0].Suggestion}; got != want {
			t.Errorf("StructTag(%s) marks %q and suggests %q, want %q and %q", literal, got[0], got[1], want[0], want[1])
		}
	}
}

func TestDirectiveNamesThatSomethingSticksTo(t *testing.T) {
	for line, want := range map[string][2]string{
		`aql:example{"a":1} b`:  {`example{"a":1}`, "put a space behind //aql:example"},
		"aql:op:category=READ":  {"op:category=READ", "put a space behind //aql:op"},
		"aql:":                  {"aql:", "write the name right behind //aql:"},
		"aql: op category=READ": {"aql:", "write the name right behind //aql:"},
	} {
		_, problems, ok := ParseDirective(line)
		if !ok || len(problems) != 1 {
			t.Errorf("ParseDirective(%q) has the problems %+v, want one", line, problems)
			continue
		}
		if got := [2]string{line[problems[0].Offset:problems[0].End], problems[0].Suggestion}; got != want {
			t.Errorf("ParseDirective(%q) marks %q and suggests %q, want %q and %q", line, got[0], got[1], want[0], want[1])
		}
	}
}

// People who know other libraries are told how their keys are called here.
func TestKeysOfOtherLibrariesAreTranslated(t *testing.T) {
	for _, tt := range []struct {
		text  string
		scope Scope
		want  string
	}{
		{"oneof=a b", Parameter, "enum, with | between the values"}, {"maxLength=3", Parameter, "maxlen"},
		{"minLength=3", Parameter, "minlen"},
		{"maximum=3", Parameter, "max"}, {"gt=3", Parameter, "min, which is inclusive"}, {"regexp=a", Parameter, "pattern"},
		{"description=a", Parameter, "desc"}, {"omitempty", Parameter, "remove it: what is not required may be left out"},
		{"email", Parameter, "format=email"},
		{"readOnly", Parameter, "readonly"}, {"minItems=1", Parameter, "minitems"},
		{"dive", Parameter, `validate:"dive,…", which is read as well`},
		{"READ", Operation, "category=READ"}, {"destructive", Operation, "danger=destructive"},
		{"confirm=Sure?", Operation, "//aql:confirm above the handler"},
	} {
		_, problems := Parse(tt.text, tt.scope)
		if len(problems) != 1 || problems[0].Suggestion != tt.want {
			t.Errorf("Parse(%q) has the problems %+v, want one with the suggestion %q", tt.text, problems, tt.want)
		}
	}
	for scope, words := range map[Scope]map[string]string{Parameter: parameterWords, Operation: operationWords} {
		for word := range words {
			if _, known := lookup(word, scope); known || word != strings.ToLower(word) {
				t.Errorf("%q would never be translated", word)
			}
		}
	}
}

// An example is underlined where its JSON breaks.
func TestExamplesAreUnderlinedWhereTheyBreak(t *testing.T) {
	for line, want := range map[string]string{
		`aql:example {"a":1,} b`:  `}`,
		`aql:example {'a':1} b`:   `'`,
		`aql:example {“a”:1}`:     `“`,
		`aql:example {"a":01} b`:  `1`,
		`aql:example {"a":1 b`:    `b`,
		`aql:example {"a":[1}`:    `}`,
		`aql:example {"a":"b`:     `b`,
		`aql:example ["a"] b`:     `["a"] b`,
		`aql:example a=1`:         `a=1`,
		`aql:example {"a":1`:      `1`,
		`aql:example {"a":true`:   `e`,
		`aql:example {"é":1,"b"}`: `}`,
	} {
		_, problems, ok := ParseDirective(line)
		if !ok || len(problems) != 1 || line[problems[0].Offset:problems[0].End] != want {
			t.Errorf("ParseDirective(%q) has the problems %+v, want one at %q", line, problems, want)
		}
	}
}

func TestParamDirectivesNeedAName(t *testing.T) {
	for line, want := range map[string]string{
		"aql:param min=1":           "//aql:param NAME min=1",
		"aql:param required":        "//aql:param NAME min=1", // it may be its name, as id may be
		"aql:param required,min=1":  "//aql:param NAME required,min=1",
		"aql:param min=1, max=2":    "//aql:param NAME min=1, max=2",
		"aql:param limit":           "//aql:param NAME min=1",
		"aql:param desc='the id' x": "//aql:param NAME desc='the id' x",
	} {
		_, problems, _ := ParseDirective(line)
		if len(problems) != 1 || problems[0].Suggestion != want {
			t.Errorf("ParseDirective(%q) has the problems %+v, want one with the suggestion %q", line, problems, want)
		}
	}
	if d, problems, _ := ParseDirective("aql:param required min=1"); len(problems) > 0 || d.Param != "required" {
		t.Errorf("a parameter may be called required: %+v", problems)
	}
}
