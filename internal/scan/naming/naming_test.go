package naming

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Names classify operations; the highest match wins and a safe pattern lowers nothing (REQ-DL-02, REQ-DL-03, REQ-DL-08,
// REQ-DL-09, REQ-DL-11, REQ-EP-15, T-52).
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
		if level, pattern := InferDanger(tt.name, tt.category); level != tt.want || pattern != tt.pattern {
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
		if got := SnakeCase(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
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
		if got := ForField(tt.name, tt.goName); got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.goName, tt.name, got, tt.want)
		}
	}
}

// Whatever a name is, what is suggested instead is a wire name.
func FuzzWireSuggestion(f *testing.F) {
	for _, name := range []string{"userName", "_", "9lives", "ÄÖÜ", "a__b", "", "x-y.z"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := Suggest(name); got != "" && !IsValid(got) {
			t.Errorf("%q: suggested %q, which is no wire name", name, got)
		}
	})
}
