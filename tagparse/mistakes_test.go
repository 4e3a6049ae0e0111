package tagparse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Only the values of lists are split at bars; any other bare value is taken as it stands, to the next comma (design §3.2).
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
		"name=":            {{"name=", codeMissing, `key "name" needs a value`, "name=…"}},
		"name=''":          {{"name=''", codeMissing, `key "name" needs a value`, "name=…"}},
		"enum=":            {{"enum=", codeMissing, `key "enum" needs a value`, "enum=a|b, or write '' for the empty text"}},
		"default=":         {{"default=", codeMissing, `key "default" needs a value`, "default=…, or write '' for the empty text"}},
		"enum=a||b":        {{"|", codeMissing, `an element of "enum" is empty`, "remove one |, or write '' for the empty text"}},
		"alias=a|":         {{"|", codeMissing, `an element of "alias" is empty`, "remove one |"}},
		"alias=a|''":       {{"|''", codeMissing, `an element of "alias" is empty`, "remove one |"}},
		"deprecated=false": {{"false", codeType, yesNo, "remove it"}},
		"deprecated=true":  {{"true", codeType, yesNo, "deprecated"}},
		"min=x,min=1": {
			{"x", codeType, `key "min" takes a number`, ""}, {"min", codeDuplicate, `key "min" stands twice in this tag`, "remove one of them"},
		},
		"pattern='a'|b": {{"|b", codeType, stray, "write '' for a quote inside a quoted value"}},
		"desc='don't do, this',min=x": {
			{"t do, this'", codeType, stray, "write '' for a quote inside a quoted value: 'don''t do, this'"}, {"x", codeType, `key "min" takes a number`, ""},
		},
		"desc='a'b,pattern='c',min=x": {
			{"b", codeType, stray, "write '' for a quote inside a quoted value"}, {"x", codeType, `key "min" takes a number`, ""},
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
	if got := Print(items); got != "enum=''|a" {
		t.Errorf("printed as %s", got)
	}
}

func TestStructTagsSayHowToWriteIt(t *testing.T) {
	for literal, want := range map[string][2]string{
		"`aql :\"required\"`":            {" ", "remove the space"},
		"`category=READ, danger=safe`":   {"category=READ, danger=safe", `aql:"category=READ, danger=safe"`},
		"`json:\"a\" required,min=1`":    {"required,min=1", `aql:"required,min=1"`},
		"`json:\"a\"aql:\"required\"`":   {"a", "put a space here"},
		"`json:\"a\", aql:\"required\"`": {",", "put a space here"},
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
