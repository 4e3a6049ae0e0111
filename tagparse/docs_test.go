package tagparse_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/tagparse"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/tags.md")

// The tables of keys and directives in docs/tags.md are the tables of this package.
func TestDocumentedKeys(t *testing.T) {
	const path = "../docs/tags.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	keysOf := func(scope tagparse.Scope) string { return tableOf(tagparse.Keys(scope)) }
	for header, rows := range map[string]string{
		"| key of an operation | value | meaning |\n|---|---|---|\n":     keysOf(tagparse.Operation),
		"| key of a field | value | meaning |\n|---|---|---|\n":          keysOf(tagparse.Parameter),
		"| key of a computed field | value | meaning |\n|---|---|---|\n": keysOf(tagparse.Computed),
		"| key of a relation | value | meaning |\n|---|---|---|\n":       keysOf(tagparse.Relation),
		"| directive | meaning |\n|---|---|\n":                           tagparse.DirectiveRows(),
	} {
		before, rest, ok := strings.Cut(page, header)
		documented, after, ok2 := strings.Cut(rest, "\n\n")
		if !ok || !ok2 {
			t.Fatalf("%s has no table %q", path, header)
		}
		want := strings.TrimSuffix(rows, "\n")
		if diff := cmp.Diff(documented, want); diff != "" && !*update {
			t.Errorf("%s: below %s (-documented +in the grammar); go test -update rewrites it:\n%s", path, header, diff)
		}
		page = before + header + want + "\n\n" + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tableOf returns the rows of a Markdown table, one a key.
func tableOf(keys []tagparse.Key) string {
	values := map[tagparse.ValueKind]string{
		tagparse.Flag: "", tagparse.Text: "text", tagparse.FlagText: "none, or text", tagparse.Integer: "whole number",
		tagparse.Number: "number", tagparse.Duration: "duration", tagparse.List: "`a\\|b`",
		tagparse.FlagList: "none, or `a\\|b`",
		tagparse.Pattern:  "regular expression",
		tagparse.Literal:  "a value of the field's type",
	}
	var rows strings.Builder
	for _, key := range keys {
		value := values[key.Value]
		if key.Value == tagparse.OneOf {
			value = "`" + strings.Join(key.OneOf, "` `") + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", key.Name, value, key.Doc)
	}
	return rows.String()
}
