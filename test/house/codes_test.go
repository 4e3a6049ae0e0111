package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// registered are the words that codes on the wire begin with (MCP-AQL error-codes §3.1). INTROSPECTION and BATCH have
// one code each, from the protocol's schemas.
var registered = regexp.MustCompile(`^(VALIDATION|NOT_FOUND|PERMISSION|CONFLICT|RATE_LIMIT|TOKEN|INTERNAL|` +
	`CONFIRMATION` +
	`|INTROSPECTION|BATCH)(_[A-Z]+)+$`)

// REQ-ER-02, REQ-ER-03, T-28: the codes that the runtime writes are those that docs/requirements.md lists, and all of
// them.
func TestCodesAreDocumented(t *testing.T) {
	written := writtenCodes(t, registered)
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range slices.Sorted(maps.Keys(written)) {
		if !regexp.MustCompile(`\b` + code + `\b`).Match(text) {
			t.Errorf("%s writes the code %s, which docs/requirements.md does not have", written[code], code)
		}
	}
	listed := regexp.MustCompile(`(?m)^\| ([A-Z_]+) \|.*\| (?:true|false|–) \|`).FindAllSubmatch(text, -1)
	for _, row := range listed {
		if code := string(row[1]); written[code] == "" {
			t.Errorf("docs/requirements.md lists the code %s, which nothing in runtime/ writes", code)
		}
	}
	if len(listed) < 30 {
		t.Errorf("found only %d rows of codes", len(listed))
	}
}

// writtenCodes returns the texts of a form in the source of the runtime, each with a file that has it. Files in the
// folders but are not searched.
func writtenCodes(t *testing.T, form *regexp.Regexp, except ...string) map[string]string {
	t.Helper()
	root := repository(t)
	written := make(map[string]string)
	for _, file := range files(t) {
		if !strings.HasPrefix(file, "runtime/") || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
			slices.ContainsFunc(except, func(folder string) bool { return strings.HasPrefix(file, folder) }) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && form.MatchString(text) {
					written[text] = file
				}
			}
			return true
		})
	}
	return written
}
