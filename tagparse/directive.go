package tagparse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Directive is one //aql: comment line.
type Directive struct {
	Name       string // one of the directives
	Text       string // what follows the name; of a confirm directive, the question alone
	TextOffset int    // of Text, in bytes of the line
	Items      []Item // of op, adopt, param, update, type, relation and computed; offsets are in bytes of the line
	Target     Target // of an adopt directive
	// Param is the name of the parameter that a param directive refines, or whose value a person types for a confirm
	// directive, and ParamOffset is its place in bytes of the line.
	Param       string
	ParamOffset int
	About       string // type of a type directive, field of a hide or relation directive; TextOffset is its offset
	Example     string // JSON object of an example directive
	Description string // what follows the JSON
}

// ParseDirective reads a comment line without its slashes, such as "aql:reason Removes the note". The last result is
// false for a line that is not an aql directive. A line that looks like a misspelt one still has a problem.
func ParseDirective(line string) (Directive, []Problem, bool) {
	rest, found := strings.CutPrefix(line, "aql:")
	if !found {
		return Directive{}, misspelt(line), false
	}
	name := rest
	if end := strings.IndexAny(rest, " \t"); end >= 0 {
		name = rest[:end]
	}
	nameOffset := len("aql:")
	d := Directive{Name: name}
	body := strings.TrimLeft(rest[len(name):], " \t")
	d.TextOffset = len(line) - len(body)
	d.Text = strings.TrimRight(body, " \t\r")
	if !slices.Contains(directives, name) {
		suggestion, ok := suggest(name, directives)
		if ok {
			suggestion = "//aql:" + suggestion
		}
		for _, candidate := range directives {
			if text, sticks := strings.CutPrefix(rest, candidate); sticks && strings.IndexByte("{:=(", text[0]) >= 0 {
				suggestion = "put a space behind //aql:" + candidate
			}
		}
		from := nameOffset
		if name == "" {
			from, suggestion = 0, "write the name right behind //aql:"
		}
		return d, []Problem{{
			Offset: from, End: nameOffset + len(name), Code: codeName,
			Message:  fmt.Sprintf("there is no directive //aql:%s", name),
			Expected: "one of " + strings.Join(directives, ", "), Actual: name, Suggestion: suggestion,
		}}, true
	}
	if d.Text == "" && name != "computed" {
		return d, []Problem{{
			Offset: 0, End: len(line), Code: codeMissing, Message: fmt.Sprintf("directive //aql:%s needs a text", name),
			Expected: usage(name), Suggestion: usage(name),
		}}, true
	}
	return d, d.parse(), true
}

// parse reads what follows the name.
func (d *Directive) parse() []Problem {
	switch d.Name {
	case "example":
		return d.parseExample()
	case "confirm":
		return d.parseConfirm()
	case "op":
		return d.parseItems(d.Text, d.TextOffset, Operation)
	case "adopt":
		return d.parseAdopt()
	case "computed":
		if d.Text == "" {
			return nil
		}
		return d.parseItems(d.Text, d.TextOffset, Computed)
	case "update":
		return d.parseItems(d.Text, d.TextOffset, Update)
	case "names":
		if d.Text != "verbatim" {
			return []Problem{{
				Offset: d.TextOffset, End: d.TextOffset + len(d.Text), Code: codeType,
				Message:  fmt.Sprintf("directive //aql:names does not know %s", d.Text),
				Expected: "verbatim", Actual: d.Text, Suggestion: usage("names"),
			}}
		}
	case "type":
		target, items := cutWord(d.Text)
		if d.About = target; items == "" || strings.ContainsAny(target, "=,") {
			return []Problem{{
				Offset: d.TextOffset, End: d.TextOffset + len(d.Text), Code: codeMissing,
				Message: "directive //aql:type needs a type, and what to say of it", Expected: usage("type"),
				Actual: d.Text, Suggestion: usage("type"),
			}}
		}
		return d.parseItems(items, d.TextOffset+len(d.Text)-len(items), Type)
	case "hide":
		if d.About, _ = cutWord(d.Text); !strings.Contains(d.About, ".") {
			return []Problem{{
				Offset: d.TextOffset, End: d.TextOffset + len(d.About), Code: codeMissing,
				Message: "directive //aql:hide needs a type and its field", Expected: usage("hide"), Actual: d.About,
				Suggestion: usage("hide"),
			}}
		}
	case "relation":
		return d.parseRelation()
	case "param":
		name, trimmed := cutWord(d.Text)
		if strings.ContainsAny(name, "=,") {
			return []Problem{{
				Offset: d.TextOffset, End: d.TextOffset + len(name), Code: codeMissing,
				Message: "directive //aql:param does not say which parameter it is about", Expected: "the name of a parameter",
				Actual:     name,
				Suggestion: "//aql:param NAME " + d.Text,
			}}
		}
		d.Param, d.ParamOffset = name, d.TextOffset
		if trimmed == "" {
			return []Problem{{
				Offset: d.TextOffset, End: d.TextOffset + len(d.Text), Code: codeMissing,
				Message: fmt.Sprintf("directive //aql:param %s says nothing about it", name), Expected: usage("param"),
				Suggestion: usage("param"),
			}}
		}
		return d.parseItems(trimmed, d.TextOffset+len(d.Text)-len(trimmed), Parameter)
	}
	return nil
}

// parseConfirm reads the parameter whose value a person types, if there is one, and the question, which may then be
// absent.
func (d *Directive) parseConfirm() []Problem {
	const key = "type="
	first, question := cutWord(d.Text)
	reference, ok := strings.CutPrefix(first, key)
	if !ok {
		return nil
	}
	name, opened := strings.CutPrefix(reference, "{")
	name, closed := strings.CutSuffix(name, "}")
	if !opened || !closed || name == "" || strings.ContainsAny(name, "{}") {
		suggestion := usage("confirm type")
		if bare := strings.Trim(reference, "{}'"); bare != "" && !strings.ContainsAny(bare, "{}'") {
			suggestion = "//aql:confirm " + key + "{" + bare + "}"
		}
		return []Problem{{
			Offset: d.TextOffset, End: d.TextOffset + len(first), Code: codeType,
			Message:  "directive //aql:confirm does not say whose value a person types",
			Expected: key + "{name}, with the name of a parameter", Actual: first, Suggestion: suggestion,
		}}
	}
	d.Param, d.ParamOffset = name, d.TextOffset+len(key)+len("{")
	d.TextOffset += len(d.Text) - len(question)
	d.Text = question
	return nil
}

// parseRelation reads the type and the name of a relation, a blank, and its items.
func (d *Directive) parseRelation() []Problem {
	about, items := cutWord(d.Text)
	d.About = about
	if dot := strings.LastIndexByte(about, '.'); dot <= 0 || dot == len(about)-1 || strings.ContainsAny(about, "=,") {
		return []Problem{{
			Offset: d.TextOffset, End: d.TextOffset + len(about), Code: codeMissing,
			Message:  "directive //aql:relation needs a type and the name of its relation",
			Expected: usage("relation"), Actual: about, Suggestion: usage("relation"),
		}}
	}
	at := d.TextOffset + len(d.Text) - len(items)
	problems := d.parseItems(items, at, Relation)
	for _, key := range []string{"by", "to"} {
		if len(problems) > 0 || hasItem(d.Items, key) {
			continue
		}
		problems = append(problems, Problem{
			Offset: d.TextOffset, End: d.TextOffset + len(d.Text), Code: codeMissing,
			Message:  fmt.Sprintf("directive //aql:relation does not say %s=", key),
			Expected: usage("relation"), Actual: d.Text, Suggestion: usage("relation"),
		})
	}
	return problems
}

func hasItem(items []Item, key string) bool {
	for i := range items {
		if items[i].Key == key {
			return true
		}
	}
	return false
}

// cutWord splits a text into its first word and what follows.
func cutWord(text string) (word, rest string) {
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], " \t")
}

func (d *Directive) parseItems(text string, offset int, scope Scope) []Problem {
	items, problems := Parse(text, scope)
	for i := range items {
		items[i].KeyOffset += offset
		items[i].ValueOffset += offset
		items[i].End += offset
	}
	for i := range problems {
		problems[i].Offset += offset
		problems[i].End += offset
	}
	d.Items = items
	return problems
}

// parseExample splits the JSON object, which ends where it is closed, from the description.
func (d *Directive) parseExample() []Problem {
	decoder := json.NewDecoder(strings.NewReader(d.Text))
	var object map[string]json.RawMessage
	if err := decoder.Decode(&object); err != nil || object == nil {
		problem := Problem{
			Offset: d.TextOffset, End: d.TextOffset + len(d.Text), Code: codeType, Message: "the example is not a JSON object",
			Expected: usage("example"), Actual: d.Text, Suggestion: usage("example"),
		}
		var broken *json.SyntaxError
		if strings.HasPrefix(d.Text, "{") && (errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF)) {
			at, why := len(d.Text)-1, "it ends before it is closed"
			if broken != nil {
				at, why = min(max(int(broken.Offset)-1, 0), at), broken.Error()
			}
			// A character of several bytes is underlined whole.
			_, size := utf8.DecodeRuneInString(d.Text[at:])
			problem.Offset, problem.End, problem.Actual = d.TextOffset+at, d.TextOffset+at+size, d.Text[at:at+size]
			problem.Message = fmt.Sprintf("the JSON of the example breaks here: %s", why)
		}
		return []Problem{problem}
	}
	end := int(decoder.InputOffset())
	d.Example = d.Text[:end]
	d.Description = strings.TrimSpace(d.Text[end:])
	return nil
}

// misspelt reports a comment that Go does not take for a directive but that looks like one.
func misspelt(line string) []Problem {
	trimmed := strings.TrimLeft(line, " \t")
	lower := strings.ToLower(trimmed)
	for _, name := range directives {
		for _, prefix := range []string{
			"aql:" + name, "aql " + name + " ", "aql: " + name + " ", "aq1:" + name, "agl:" + name,
		} {
			if strings.HasPrefix(lower, prefix) && !strings.HasPrefix(line, "aql:") {
				offset := len(line) - len(trimmed)
				return []Problem{{
					Offset: offset, End: offset + min(len(prefix), len(trimmed)), Code: codeName,
					Message:  "this comment looks like a directive but is not one",
					Expected: "//aql:" + name, Actual: "//" + line[:min(len(line), offset+len(prefix))], Suggestion: "//aql:" + name,
				}}
			}
		}
	}
	return nil
}
