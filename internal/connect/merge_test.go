package connect_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/connect"
)

var short = connect.Server{Name: "notes", Command: []string{"/opt/notes"}}

// A server is added and nothing else changes: members, their order, comments, indentation and line ends stay.
func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name, client string // default cursor
		before, want string
		replace      bool
	}{
		{name: "no file",
			want: "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"/opt/notes\"\n    }\n  }\n}\n"},
		{name: "blanks only", before: " \n\n",
			want: "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"/opt/notes\"\n    }\n  }\n}\n"},
		{name: "an empty object", before: "{}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"/opt/notes\"\n    }\n  }\n}"},
		{name: "other members", before: "{\n\t\"theme\": \"dark\"\n}\n",
			want: "{\n\t\"theme\": \"dark\",\n" +
				"\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"/opt/notes\"\n\t\t}\n\t}\n}\n"},
		{name: "other servers",
			before: "{\n    \"mcpServers\": {\n        \"a\": {\"url\": \"x\"}\n    },\n    \"z\": [1, {\"b\": null}]\n}\n",
			want: "{\n    \"mcpServers\": {\n        \"a\": {\"url\": \"x\"},\n        \"notes\": {\n" +
				"            \"command\": \"/opt/notes\"\n        }\n    },\n    \"z\": [1, {\"b\": null}]\n}\n"},
		{name: "comments and trailing commas", client: "zed",
			before: "// mine {\n{\n  \"context_servers\": { /* none, \"yet\" */\n    \"a\": {\"command\": \"//x\"}, " +
				"// the first }\n  }, // all\n  \"theme\": \"One\", /* dark */\n}\n// end\n",
			want: "// mine {\n{\n  \"context_servers\": { /* none, \"yet\" */\n    \"a\": {\"command\": \"//x\"}, " +
				"// the first }\n    \"notes\": {\n      \"command\": \"/opt/notes\"\n    }\n" +
				"  }, // all\n  \"theme\": \"One\", /* dark */\n}\n// end\n"},
		{name: "a comment behind the last member", client: "zed", before: "{\n  \"theme\": \"One\" // dark\n}\n",
			want: "{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {\n    \"notes\": {\n" +
				"      \"command\": \"/opt/notes\"\n    }\n  }\n}\n"},
		{name: "one line", before: `{"mcpServers":{"a":{}}}`,
			want: "{\"mcpServers\":{\"a\":{},\n  \"notes\": {\n    \"command\": \"/opt/notes\"\n  }\n}}"},
		{name: "line ends of Windows and a mark of the byte order", before: "\ufeff{\r\n  \"a\": 1\r\n}\r\n",
			want: "\ufeff{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"notes\": {\r\n      \"command\": \"/opt/notes\"\r\n" +
				"    }\r\n  }\r\n}\r\n"},
		{name: "a number with many digits stays", before: "{\n  \"n\": 12345678901234567890.10\n}",
			want: "{\n  \"n\": 12345678901234567890.10,\n  \"mcpServers\": {\n    \"notes\": {\n" +
				"      \"command\": \"/opt/notes\"\n    }\n  }\n}"},
		{name: "another entry is replaced", replace: true,
			before: "{\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"old\"}, // mine\n    \"b\": {}\n  }\n}\n",
			want: "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"/opt/notes\"\n    }, // mine\n" +
				"    \"b\": {}\n  }\n}\n"},

		{name: "TOML, no file", client: "codex", want: "[mcp_servers.notes]\ncommand = \"/opt/notes\"\n"},
		{name: "TOML", client: "codex",
			before: "# mine\nmodel = \"o\" # the best\n\n[mcp_servers.a]\ncommand = 'x#y'\n" +
				"args = [\n  \"[mcp_servers.notes]\", # no\n]\n\n\n",
			want: "# mine\nmodel = \"o\" # the best\n\n[mcp_servers.a]\ncommand = 'x#y'\n" +
				"args = [\n  \"[mcp_servers.notes]\", # no\n]\n\n" +
				"[mcp_servers.notes]\ncommand = \"/opt/notes\"\n"},
		{name: "TOML with strings of many lines", client: "codex",
			before: "a = \"\"\"\n[mcp_servers.notes]\n\"quoted\"\"\"\"\nb = '''\n'''\n" +
				"c = { d = [1, 2.5e3, 1979-05-27 07:32:00Z], \"e.f\" = true }\n",
			want: "a = \"\"\"\n[mcp_servers.notes]\n\"quoted\"\"\"\"\nb = '''\n'''\n" +
				"c = { d = [1, 2.5e3, 1979-05-27 07:32:00Z], \"e.f\" = true }\n\n" +
				"[mcp_servers.notes]\ncommand = \"/opt/notes\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.client == "" {
				tt.client = "cursor"
			}
			c := client(t, tt.client)
			got, err := c.Merge(tt.before, short, tt.replace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := c.Merge(got, short, false); !errors.Is(err, connect.ErrUnchanged) {
				t.Errorf("a second time: %v", err)
			}
			if _, err := c.Merge(got, command, false); !errors.Is(err, connect.ErrOther) {
				t.Errorf("another server of that name: %v", err)
			}
		})
	}
}

// A file that is broken, or of which it is not known what a client reads in it, is left alone.
func TestMergeRefuses(t *testing.T) {
	for _, tt := range []struct{ name, client, before, says string }{
		{"an end that is missing", "cursor", "{\n  \"mcpServers\": {\n", "line 3"},
		{"a comma that is missing", "cursor", "{\"a\": 1 \"b\": 2}", "a comma or '}' is missing"},
		{"a comma too many", "cursor", "{\"a\": 1,, \"b\": 2}", "the name of a member is missing"},
		{"a name without quotes", "cursor", "{a: 1}", "the name of a member is missing"},
		{"a text in single quotes", "cursor", "{\"a\": 'b'}", "is not a value of JSON"},
		{"two values", "cursor", "{} {}", "there is more behind the value"},
		{"a list", "cursor", "[]", "not an object"},
		{"a member twice", "cursor", "{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"},
		{"a server twice", "cursor", "{\"mcpServers\": {\"a\": {}, \"a\": {}}}", "twice"},
		{"a comment that does not end", "zed", "{} /* ", "a comment does not end"},
		{"servers that are no object", "cursor", "{\"mcpServers\": []}", "\"mcpServers\" is not an object"},
		{"bytes that are not UTF-8", "cursor", "{\"a\": \"\xff\"}", "not UTF-8"},
		{"depth", "cursor", strings.Repeat("[", 1000), "nested too deeply"},

		{"TOML: an end that is missing", "codex", "a = \"b\nc = 1\n", "a string does not end"},
		{"TOML: a value that is missing", "codex", "a =\n", "a value is missing"},
		{"TOML: JSON", "codex", "{\"a\": 1}", "a key is missing"},
		{"TOML: two values in a line", "codex", "a = 1 b = 2\n", "more behind the value"},
		{"TOML: a table twice", "codex", "[a]\n[a]\n", "stands twice"},
		{"TOML: an inline table", "codex", "mcp_servers = { a = { command = \"x\" } }\n", "no table"},
		{"TOML: an array of tables", "codex", "[[mcp_servers]]\n", "no table"},
		{"TOML: a server as a pair", "codex", "mcp_servers.notes.command = \"x\"\n", "another server of that name"},
		{"TOML: a server in quotes", "codex", "[ mcp_servers . \"notes\" ]\n", "another server of that name"},
		{"TOML: a server in a table", "codex", "[mcp_servers]\nnotes = {command = \"x\"}\n", "another server of that name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := client(t, tt.client).Merge(tt.before, short, false)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q, %v, want %q", got, err, tt.says)
			}
		})
	}
}

// Whatever is in a file, a merge is refused, or adds the server to what JSON says is there.
func FuzzMerge(f *testing.F) {
	f.Add(`{"mcpServers":{"a":{"b":[1,"x\\",{}]}},"c":null}`)
	f.Add("{ // x\n \"a\" : 1 , /* , */ }")
	f.Add("\ufeff{\r\n}\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := client(t, "cursor").Merge(text, short, false)
		if err != nil || !json.Valid([]byte(text)) {
			return
		}
		var before, after map[string]any
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &after); err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		servers, _ := before["mcpServers"].(map[string]any)
		if servers == nil {
			servers = map[string]any{}
		}
		servers["notes"] = map[string]any{"command": "/opt/notes"}
		if before == nil {
			before = map[string]any{}
		}
		before["mcpServers"] = servers
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzMergeTOML(f *testing.F) {
	f.Add("a = \"\"\"b\"\"\"\n[c.'d']\ne = [1, {f = 2}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := client(t, "codex").Merge(text, short, false)
		if err != nil {
			return
		}
		if _, err := client(t, "codex").Merge(got, short, false); !errors.Is(err, connect.ErrUnchanged) {
			t.Errorf("a second time: %v\n%s", err, got)
		}
	})
}
