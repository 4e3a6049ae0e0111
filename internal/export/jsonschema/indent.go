package jsonschema

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/jsonschema"
	"github.com/go-json-experiment/json/jsontext"
)

// Render returns a document as JSON for people: indented by two spaces, with short lists on one line. The same document
// gives the same bytes.
func Render(schema *jsonschema.Schema) ([]byte, error) {
	text, err := schema.Text()
	if err != nil {
		return nil, err
	}
	return Indent(text)
}

// width is the greatest length of a list on one line.
const width = 100

// Indent returns JSON indented by two spaces, with a newline at its end. Empty objects, and lists without objects and
// lists in them, are on one line if they fit. Characters are escaped only if JSON requires it. It fails on what is not
// JSON.
func Indent(text []byte) ([]byte, error) {
	value := jsontext.Value(bytes.Clone(text))
	err := value.Compact(jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))
	if err != nil {
		return nil, fmt.Errorf("formatting JSON: %w", err)
	}
	var b bytes.Buffer
	if err := indent(&b, value, 0); err != nil {
		return nil, fmt.Errorf("formatting JSON: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func indent(b *bytes.Buffer, value jsontext.Value, level int) error {
	members, elements, err := parts(value)
	switch {
	case err != nil:
		return err
	case len(elements) == 0:
		b.Write(value)
		return nil
	case value.Kind() == '[':
		if line, ok := onOneLine(elements); ok && 2*level+utf8.RuneCountInString(line) <= width {
			b.WriteString(line)
			return nil
		}
	}
	b.WriteByte(value[0])
	for i, element := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		newLine(b, level+1)
		if value.Kind() == '{' {
			name, err := jsontext.AppendQuote(nil, members[i].name)
			if err != nil {
				return err
			}
			b.Write(name)
			b.WriteString(": ")
		}
		if err := indent(b, element, level+1); err != nil {
			return err
		}
	}
	newLine(b, level)
	b.WriteByte(value[len(value)-1])
	return nil
}

func newLine(b *bytes.Buffer, level int) {
	b.WriteByte('\n')
	for range level {
		b.WriteString("  ")
	}
}

// onOneLine returns a list on one line; false: an element is an object or a list.
func onOneLine(elements []jsontext.Value) (string, bool) {
	var texts []string
	for _, element := range elements {
		if kind := element.Kind(); kind == '{' || kind == '[' {
			return "", false
		}
		texts = append(texts, string(element))
	}
	return "[" + strings.Join(texts, ", ") + "]", true
}

// member is a member of an object.
type member struct {
	name  string
	value jsontext.Value
}

// parts returns the members of an object, or the elements of an array.
func parts(value jsontext.Value) (members []member, elements []jsontext.Value, err error) {
	if kind := value.Kind(); kind != '{' && kind != '[' {
		return nil, nil, nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	open, err := decoder.ReadToken()
	for err == nil && decoder.PeekKind() != '}' && decoder.PeekKind() != ']' {
		var m member
		if open.Kind() == '{' {
			var name jsontext.Token
			if name, err = decoder.ReadToken(); err != nil {
				break
			}
			m.name = name.String()
		}
		if m.value, err = decoder.ReadValue(); err != nil {
			break
		}
		m.value = m.value.Clone()
		members, elements = append(members, m), append(elements, m.value)
	}
	return members, elements, err
}
