package shapes

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
)

// qualifyQueryFields gives fields of one name in several embedded structs names of their own, where their tags are for
// the query of a URL and not for JSON: ListOptions.Page is list_options_page. encoding/json would have none of them.
func (m *Maker) qualifyQueryFields(all []*candidate) {
	byName := make(map[string][]*candidate)
	for _, c := range all {
		if c.depth > 0 && !c.Tag.Named && !m.Editable(c.Var.Pkg()) && isQueryField(c) {
			byName[c.Tag.Name] = append(byName[c.Tag.Name], c)
		}
	}
	for _, c := range all {
		group := byName[c.Tag.Name]
		delete(byName, c.Tag.Name)
		depth := 0
		for _, other := range all {
			if other.Tag.Name == c.Tag.Name && (depth == 0 || other.depth < depth) {
				depth = other.depth
			}
		}
		if len(group) < 2 || slices.ContainsFunc(group, func(other *candidate) bool { return other.depth != depth }) {
			continue
		}
		var texts []string
		for _, other := range group {
			other.Tag.Name = naming.SnakeCase(other.selector[len(other.selector)-2]) + "_" + other.Tag.Name
			texts = append(texts, other.Path+" as "+other.Tag.Name)
		}
		m.Report(group[0].Tag.NameAt, diag.Diagnostic{
			Severity: diag.Note, Code: diag.CodeDuplicate, FieldPath: group[0].Path, Actual: group[0].Tag.Name,
			Message: fmt.Sprintf("agents see %s, since they have one name", strings.Join(texts, " and ")),
		})
	}
}

// isQueryField reports whether the tag of a field is for the query of a URL, and not for JSON.
func isQueryField(c *candidate) bool {
	if c.Tag.Field == nil || c.Tag.Field.Tag == nil {
		return false
	}
	text, err := strconv.Unquote(c.Tag.Field.Tag.Value)
	_, url := reflect.StructTag(text).Lookup("url")
	_, json := reflect.StructTag(text).Lookup("json")
	return err == nil && url && !json
}
