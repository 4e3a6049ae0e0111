package console_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// checkPage checks that a page is well-formed, and what every reader relies on: it has a language, a title and one
// heading of the first level, no level is left out, identifiers are unique, and each label, anchor and description has
// what it refers to. What a person fills in has a label.
func checkPage(t *testing.T, page string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Entity = map[string]string{}
	var ids, referred, unlabelled []string
	headings := []int{0}
	first, seen := 0, map[string]int{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v\n%s", err, page)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attributes := make(map[string]string)
		for _, attribute := range element.Attr {
			attributes[attribute.Name.Local] = attribute.Value
		}
		name := element.Name.Local
		if name != "title" || attributes["id"] == "" { // otherwise it is of a picture
			seen[name]++
		}
		if id, ok := attributes["id"]; ok {
			if slices.Contains(ids, id) {
				t.Errorf("two elements are %s", id)
			}
			ids = append(ids, id)
		}
		for _, reference := range []string{"for", "aria-labelledby", "aria-describedby"} {
			referred = append(referred, strings.Fields(attributes[reference])...)
		}
		if id, ok := strings.CutPrefix(attributes["href"], "#"); ok {
			referred = append(referred, id)
		}
		if (name == "input" || name == "select") && attributes["type"] != "hidden" {
			unlabelled = append(unlabelled, attributes["id"])
		}
		if len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6' {
			level := int(name[1] - '0')
			if level > headings[len(headings)-1]+1 {
				t.Errorf("a heading of level %d follows one of level %d", level, headings[len(headings)-1])
			}
			if level == 1 {
				first++
			}
			headings = append(headings, level)
		}
		if name == "html" && attributes["lang"] == "" {
			t.Error("the page has no language")
		}
		for attribute := range attributes {
			if strings.HasPrefix(attribute, "on") || attribute == "style" {
				t.Errorf("%s has the attribute %s, which its policy forbids", name, attribute)
			}
		}
	}
	if first != 1 || seen["title"] != 1 || seen["main"] != 1 || seen["style"] != 0 {
		t.Errorf("%d headings of the first level, and of elements: %v", first, seen)
	}
	for _, id := range referred {
		if !slices.Contains(ids, id) {
			t.Errorf("nothing is %s, which is referred to", id)
		}
	}
	for _, id := range unlabelled {
		if !strings.Contains(page, `<label for="`+id+`"`) {
			t.Errorf("the field %s has no label", id)
		}
	}
}
