package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// fake answers as the text says, whatever is asked.
type fake struct {
	tools  []Tool
	answer func(tool, arguments string) (Reply, error)
}

func (f *fake) Tools(context.Context) ([]Tool, error) { return f.tools, nil }

func (f *fake) Call(_ context.Context, tool string, arguments json.RawMessage) (Reply, error) {
	return f.answer(tool, string(arguments))
}

// small is a server with one operation, and faults of several kinds.
func small() *fake {
	const detail = `{"name":"introspect","semantic_category":"READ","endpoint":"read","mcpTool":"mcp_aql_read",` +
		`"description":"Discovers","permissions":{"readOnly":true,"destructive":false},"parameters":[{"name":"query",` +
		`"type":"string","required":true,` +
		`"enum":["operations"]}],"returns":{"name":"Nothing","kind":"scalar"}}`
	return &fake{
		tools: []Tool{{Name: "weather"}, {Name: "mcp_aql_read", Description: "introspect"}},
		answer: func(_, arguments string) (Reply, error) {
			switch {
			case strings.Contains(arguments, "no_such_name"):
				return Reply{Text: `{"success":true,"data":{"operation":null,"type":null}}`}, nil
			case strings.Contains(arguments, `"name"`):
				return Reply{Text: `{"success":true,"data":{"operation":` + detail + `}}`}, nil
			case strings.Contains(arguments, `"query":"types"`):
				return Reply{Text: `{"success":true,"data":{"types":[]}}`}, nil
			case strings.Contains(arguments, `"query":"operations"`):
				return Reply{Text: `{"success":true,"data":{"_protocol":{"version":"1.0.0-draft"},"operations":[` +
					`{"name":"introspect","semantic_category":"READ","endpoint":"read","description":"Discovers | *all*"}]}}`}, nil
			}
			return Reply{IsError: true, Text: `{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM",` +
				`"message":"TypeError: \u001b[31mquery is undefined"}}`}, nil
		},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is another than before; see with -update\n%s", path, got)
	}
}

// The forms of the report, of a server that does several things wrong.
func TestReports(t *testing.T) {
	report, err := Run(t.Context(), small(), Options{
		Implementation: "small", Version: "1.0", Run: regexp.MustCompile(`^(introspect|errors|tools|pages)/`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var text, whole, page bytes.Buffer
	if err := errors.Join(report.Text(&text, false), report.Text(&whole, true), report.Markdown(&page)); err != nil {
		t.Fatal(err)
	}
	if report.ExitCode() != 1 || report.ConformanceLevel != 0 {
		t.Errorf("exit code %d, level %d", report.ExitCode(), report.ConformanceLevel)
	}
	if strings.Contains(text.String()+whole.String()+page.String(), "\x1b") {
		t.Error("a server can move the cursor of a terminal")
	}
	golden(t, "report.txt", text.Bytes())
	golden(t, "report-verbose.txt", whole.Bytes())
	golden(t, "report.md", page.Bytes())
	asJSON, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", append(asJSON, '\n'))
}

// The exit code says the worst: 1 before 2 (REQ-CL-08).
func TestExitCode(t *testing.T) {
	for want, summary := range []Summary{{Passed: 1, Skipped: 1}, {Failed: 1, Warnings: 1}, {Warnings: 1, Passed: 3}} {
		if got := (&Report{Summary: summary}).ExitCode(); got != want {
			t.Errorf("%+v: %d, want %d", summary, got, want)
		}
	}
}

// What cannot be judged is an error, not a report.
func TestRunErrors(t *testing.T) {
	says := func(text string) *fake {
		answer := func(string, string) (Reply, error) { return Reply{Text: text}, nil }
		return &fake{tools: []Tool{{Name: "a_mcp_aql"}}, answer: answer}
	}
	two := says("")
	two.tools = []Tool{{Name: "a_mcp_aql"}, {Name: "b_mcp_aql"}}
	gone := says("")
	gone.answer = func(string, string) (Reply, error) { return Reply{}, errors.New("it is gone") }
	for name, tt := range map[string]struct {
		server  *fake
		options Options
		want    string
	}{
		"no tool":        {&fake{tools: []Tool{{Name: "weather"}, {Name: "mcp_aqlx"}}}, Options{}, ErrNoAdapter.Error()},
		"another prefix": {says(""), Options{Prefix: "b_"}, `the prefix asked for is "b_"`},
		"two adapters":   {two, Options{}, `one of ["a_" "b_"]`},
		"no level":       {says(""), Options{Level: 3}, "there is no level 3"},
		"no check":       {says(""), Options{Run: regexp.MustCompile("nothing")}, "no check"},
		"no introspect": {says(`{"success":false,"error":{"code":"X","message":"no"}}`), Options{},
			"tool a_mcp_aql answers"},
		"no JSON":         {says("<html>"), Options{}, "tool a_mcp_aql answers <html>"},
		"gone":            {gone, Options{}, "it is gone"},
		"answers in vain": {says("null"), Options{}, "tool a_mcp_aql answers null"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), tt.server, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// A server that goes in the middle of the run fails the check that it went in, and the rest is skipped.
func TestServerThatGoes(t *testing.T) {
	server := small()
	answer := server.answer
	calls := 0
	server.answer = func(tool, arguments string) (Reply, error) {
		if calls++; calls > 12 {
			return Reply{}, errors.New("it is gone")
		}
		return answer(tool, arguments)
	}
	report, err := Run(t.Context(), server, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var failed, skipped int
	for _, r := range report.Results() {
		switch {
		case r.Verdict == Fail && strings.HasPrefix(r.Findings[0].Message, "The server stopped answering: it is gone"):
			failed++
		case r.Reason == "the server does not answer any more":
			skipped++
		}
	}
	if failed != 1 || skipped < 50 {
		t.Errorf("%d failed, %d skipped", failed, skipped)
	}
}

// Whatever a server answers, it is judged.
func FuzzAnswers(f *testing.F) {
	for _, args := range []string{`"query":"operations"`, `"name"`, `"query":"types"`, "x"} {
		reply, _ := small().answer("", args)
		f.Add(reply.Text, reply.Text, reply.Text)
	}
	f.Add(`{"success":true,"data":{"operations":[{"name":"create_x"},{"name":"get_x"},{"name":"update_x"}]}}`,
		`{"success":true,"data":{"operation":{"name":"create_x","semantic_category":"CREATE","parameters":[{"name":"a",`+
			`"type":"T | b[]","required":true,"minimum":1e999,"items":{"type":"array"}}],`+
			`"returns":{"name":"T","kind":"object"}},"type":{"name":"T","kind":"union","members":["T"]},`+
			`"types":[{"name":"T"}]}}`,
		`{"success":true,"data":{"id":"1","items":[{"a":{"b":1,"c":2}}]},"results":[{"index":-1}]}`)
	f.Fuzz(func(t *testing.T, list, detail, rest string) {
		server := &fake{tools: []Tool{{Name: "mcp_aql_read"}, {Name: "mcp_aql_create"}}}
		server.answer = func(_, arguments string) (Reply, error) {
			switch {
			case strings.Contains(arguments, `"name"`) || strings.Contains(arguments, `"types"`):
				return Reply{Text: detail}, nil
			case strings.Contains(arguments, `"introspect"`):
				return Reply{Text: list}, nil
			}
			return Reply{Text: rest}, nil
		}
		report, err := Run(t.Context(), server, Options{AllowDestructive: true, Other: server})
		if err != nil {
			return
		}
		if err := report.Markdown(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
		if text, err := report.Bundle(); err == nil && !json.Valid(text) {
			t.Error("the bundle is no JSON")
		}
	})
}
