package jsonschema

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// width is how long a list may be that stands on one line.
const width = 100

// Indent writes JSON with two spaces for each level and a line end. Lists without lists and objects in them, and empty
// objects, stand on one line if there is room. Characters are escaped only where JSON demands it.
func Indent(text []byte) ([]byte, error) {
	value := jsontext.Value(bytes.Clone(text))
	if err := value.Compact(jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false)); err != nil {
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

// onOneLine is a list of values that have nothing inside of them.
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
