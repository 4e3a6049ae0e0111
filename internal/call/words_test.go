package call_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/call"
)

// What stands behind the flags is either one request or refused before anything is started.
func TestSplit(t *testing.T) {
	exists := func(word string) bool { return word == "server.js" }
	for _, tt := range []struct {
		name, words string
		url         bool
		want        call.Request
		refused     string // a part of the error
	}{
		{name: "a command alone lists", words: "./notes", want: call.Request{Command: f("./notes"), Describe: true}},
		{name: "a command with arguments lists", words: "./notes -db x --",
			want: call.Request{Command: f("./notes -db x"), Describe: true}},
		{name: "help lists", words: "./notes help", want: call.Request{Command: f("./notes"), Describe: true}},
		{name: "help of an operation", words: "./notes help add_note",
			want: call.Request{Command: f("./notes"), Operation: "add_note", Describe: true}},
		{name: "an operation called help, with parameters", words: `./notes help {"a":1}`,
			want: call.Request{Command: f("./notes"), Operation: "help", Params: f(`{"a":1}`)}},
		{name: "an operation", words: "./notes list_notes",
			want: call.Request{Command: f("./notes"), Operation: "list_notes", Params: []string{}}},
		{name: "JSON", words: `./notes add_note {"text":"-x"}`,
			want: call.Request{Command: f("./notes"), Operation: "add_note", Params: f(`{"text":"-x"}`)}},
		{name: "pairs", words: "./notes add_note text=-- n=-1",
			want: call.Request{Command: f("./notes"), Operation: "add_note", Params: f("text=-- n=-1")}},
		{name: "standard input", words: "./notes add_note -",
			want: call.Request{Command: f("./notes"), Operation: "add_note", Params: f("-")}},
		{name: "a file", words: "./notes add_note @x.json",
			want: call.Request{Command: f("./notes"), Operation: "add_note", Params: f("@x.json")}},
		{name: "a command with arguments", words: "go run . -db x -- add_note @x.json",
			want: call.Request{Command: f("go run . -db x"), Operation: "add_note", Params: f("@x.json")}},
		{name: "a command with arguments behind --", words: "npm exec -- notes -- list_notes",
			want: call.Request{Command: f("npm exec -- notes"), Operation: "list_notes", Params: []string{}}},
		{name: "a URL lists", url: true, want: call.Request{Describe: true}},
		{name: "a URL", url: true, words: "add_note text=x",
			want: call.Request{Operation: "add_note", Params: f("text=x")}},

		{name: "nothing", refused: "say what to call"},
		{name: "no command", words: "-- add_note", refused: "no command"},
		{name: "flags of a command", words: "./notes -db x list_notes", refused: "-- ./notes -db x list_notes -- OPERATION"},
		{name: "flags of a command behind a word", words: "docker run -i notes", refused: "second '--'"},
		{name: "a folder for a command", words: "go run .", refused: "second '--'"},
		{name: "a path for a command", words: "node ./server.js", refused: "second '--'"},
		{name: "a file that is there", words: "node server.js", refused: "second '--'"},
		{name: "two words", words: "./notes -- add_note text", refused: "one JSON object"},
		{name: "JSON and pairs", words: `./notes -- add_note {} a=1`, refused: "one JSON object"},
		{name: "no object", words: `./notes -- add_note 3`, refused: "one JSON object"},
		{name: "a flag behind a URL", url: true, words: "-yes add_note", refused: "flags go before"},
		{name: "a flag behind an operation", url: true, words: "add_note -yes", refused: `not "-yes"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := call.Split(f(tt.words), !tt.url, exists)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func f(words string) []string { return strings.Fields(words) }

// A command line that is shown can be pasted into a shell, and shows every character.
func TestQuote(t *testing.T) {
	for name, tt := range map[string]struct {
		words []string
		want  string
	}{
		"plain words":     {f("go run ./cmd/x -db=y"), "go run ./cmd/x -db=y"},
		"blanks":          {[]string{"a b"}, "'a b'"},
		"nothing":         {[]string{""}, "''"},
		"a quote":         {[]string{"it's"}, `'it'\''s'`},
		"a variable":      {[]string{"$HOME;`x`"}, "'$HOME;`x`'"},
		"what misleads":   {[]string{"a\u202eb'\\"}, `$'a\u202eb\'\\'`},
		"a line break":    {[]string{"a\nb"}, `$'a\nb'`},
		"an empty object": {[]string{"{}"}, "'{}'"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := call.Quote(tt.words); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
