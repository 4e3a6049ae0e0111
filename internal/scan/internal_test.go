package scan

import (
	"go/ast"
	"math/big"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Names classify operations; the highest match wins and a safe pattern lowers nothing (REQ-DL-02, REQ-DL-03, REQ-DL-08, REQ-DL-09, T-52).
func TestInferDanger(t *testing.T) {
	tests := []struct {
		name     string
		category gen.Category
		want     gen.Danger
		pattern  string
	}{
		{"create_todo", gen.Create, gen.Reversible, ""},
		{"get_todo", gen.Read, gen.Safe, ""},
		{"update_todo", gen.Update, gen.Reversible, ""},
		{"delete_todo", gen.Delete, gen.Destructive, ""},
		{"run_job", gen.Execute, gen.Reversible, ""},
		{"get_and_forget", gen.Delete, gen.Destructive, ""},
		{"list_things", gen.Execute, gen.Reversible, ""},
		{"force_close", gen.Execute, gen.Dangerous, "force_*"},
		{"delete_permanently", gen.Delete, gen.Dangerous, "*_permanently"},
		{"bulk_delete", gen.Delete, gen.Dangerous, "bulk_delete*"},
		{"bulk_delete_todos", gen.Delete, gen.Dangerous, "bulk_delete*"},
		{"override_limit", gen.Update, gen.Dangerous, "override_*"},
		{"bypass_check", gen.Execute, gen.Dangerous, "bypass_*"},
		{"migrate_without_backup", gen.Execute, gen.Dangerous, "*_without_backup"},
		{"purge_cache", gen.Delete, gen.Dangerous, "purge_*"},
		{"drop_table", gen.Delete, gen.Forbidden, "drop_*"},
		{"delete_all", gen.Delete, gen.Forbidden, "delete_all*"},
		{"delete_all_todos", gen.Delete, gen.Forbidden, "delete_all*"},
		{"force_delete_all", gen.Delete, gen.Forbidden, "delete_all*"},
		{"truncate_log", gen.Delete, gen.Forbidden, "truncate_*"},
		{"reset_password", gen.Update, gen.Forbidden, "reset_*"},
		{"destroy_all", gen.Delete, gen.Forbidden, "destroy_*"},
		{"wipe_disk", gen.Delete, gen.Forbidden, "wipe_*"},
		{"deploy_production", gen.Execute, gen.Forbidden, "*_production"},
		{"enforce_rule", gen.Execute, gen.Reversible, ""},
		{"get_reset_token", gen.Read, gen.Safe, ""},
	}
	for _, tt := range tests {
		if level, pattern := inferDanger(tt.name, tt.category); level != tt.want || pattern != tt.pattern {
			t.Errorf("%s %s: got %s by %q, want %s by %q", tt.category, tt.name, level, pattern, tt.want, tt.pattern)
		}
	}
}

func TestSnakeCase(t *testing.T) {
	for name, want := range map[string]string{
		"CreateTodo": "create_todo", "HTTPServer": "http_server", "UserID": "user_id", "UserIDs": "user_ids", "IDs": "ids",
		"GetURLs": "get_urls", "ParseJSONBody": "parse_json_body", "V2Item": "v2_item", "A": "a", "lower": "lower",
		"Has_Underscore": "has_underscore", "X509Cert": "x509_cert", "userName": "user_name", "dash-ed": "dash_ed",
	} {
		if got := snakeCase(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// A doc comment becomes a description without the name it begins with and without directives.
func TestDescribe(t *testing.T) {
	tests := []struct{ comment, name, want string }{
		{"// CreateTodo adds a todo.", "CreateTodo", "Adds a todo."},
		{"// Todo is a thing to do.", "Todo", "A thing to do."},
		{"// Low is urgent.", "Low", "Is urgent."},
		{"// Todos are what there is to do.", "Todos", "What there is to do."},
		{"// Title", "Title", "Title"},
		{"// Titles of todos.", "Title", "Titles of todos."},
		{"// Title of the todo.", "Title", "Title of the todo."},
		{"// What has to be done", "Title", "What has to be done"},
		{"// Get reads\n// one thing.\n//\n// Then it ends.\n//\n//aql:reason None", "Get", "Reads one thing.\n\nThen it ends."},
		{"// Get reads:\n//   - one\n//   - two", "Get", "Reads:\n  - one\n  - two"},
		{"/* Get reads. */", "Get", "Reads."},
		{"// Get élan.", "Get", "Élan."},
		{"//aql:op category=READ", "Get", ""},
	}
	for _, tt := range tests {
		group := &ast.CommentGroup{}
		if strings.HasPrefix(tt.comment, "/*") {
			group.List = append(group.List, &ast.Comment{Text: tt.comment})
		} else {
			for line := range strings.SplitSeq(tt.comment, "\n") {
				group.List = append(group.List, &ast.Comment{Text: line})
			}
		}
		if got := describe(group, tt.name); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.comment, got, tt.want)
		}
	}
	if got := describe(nil, "Get"); got != "" {
		t.Errorf("no comment: got %q", got)
	}
}

func TestForeignName(t *testing.T) {
	tests := []struct{ name, goName, want string }{
		{"fooBar", "Foo", "foo_bar"},
		{"foo-bar", "Foo", "foo_bar"},
		{"+1", "PlusOne", "plus_one"},
		{"@type", "TypeURL", "type_url"},
		{"été", "Summer", "summer"},
	}
	for _, tt := range tests {
		if got := foreignName(tt.name, tt.goName); got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.goName, tt.name, got, tt.want)
		}
	}
}

func TestErrorPosition(t *testing.T) {
	for pos, want := range map[string]model.Position{
		"/a/b.go:3:14":   {File: "/a/b.go", Line: 3, Column: 14},
		"/a/b.go:3":      {File: "/a/b.go", Line: 3, Column: 1},
		`C:\a\b.go:3:14`: {File: `C:\a\b.go`, Line: 3, Column: 14},
		"-":              {},
		"":               {},
		"/a/b.go":        {},
	} {
		got, ok := errorPosition(packages.Error{Pos: pos})
		if got != want || ok != (want != model.Position{}) {
			t.Errorf("%q: got %v, %v", pos, got, ok)
		}
	}
}

// Whatever a name is, what is suggested instead is a wire name.
func FuzzWireSuggestion(f *testing.F) {
	for _, name := range []string{"userName", "_", "9lives", "ÄÖÜ", "a__b", "", "x-y.z"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := wireSuggestion(name); got != "" && !isWireName(got) {
			t.Errorf("%q: suggested %q, which is no wire name", name, got)
		}
	})
}

// parseNumber takes JSON numbers exactly and nothing else, and is not made to compute enormous ones.
func FuzzParseNumber(f *testing.F) {
	for _, text := range []string{"0", "-1", "1.50", "1e3", "1e999999999", "9223372036854775808", "", " 1", "1 ", "0x10", "+1", "nul", "01", "1e-400"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := parseNumber(text)
		if !ok {
			return
		}
		if again, ok := new(big.Rat).SetString(text); !ok || again.Cmp(value) != 0 {
			t.Errorf("%q: got %s", text, value)
		}
		if strings.TrimLeft(text, "-0123456789.eE+") != "" {
			t.Errorf("%q is no JSON number", text)
		}
	})
}
