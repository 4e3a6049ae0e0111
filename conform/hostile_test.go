package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// answering is a server that answers introspect with lists and details made by functions.
func answering(operations func() []string, detail func(name string) string) *fake {
	return &fake{
		tools: []Tool{{Name: "mcp_aql_read", Description: "introspect"}},
		answer: func(_, arguments string) (Reply, error) {
			var request struct {
				Operation string
				Params    struct{ Query, Name string }
			}
			_ = json.Unmarshal([]byte(arguments), &request)
			if request.Operation != "introspect" {
				return Reply{Text: `{"success":false,"error":{"code":"NOT_FOUND_OPERATION","message":"No"}}`}, nil
			}
			switch {
			case request.Params.Query == "types":
				return Reply{Text: `{"success":true,"data":{"types":[],"type":null}}`}, nil
			case request.Params.Name != "":
				return Reply{Text: `{"success":true,"data":{"operation":` + detail(request.Params.Name) + `}}`}, nil
			}
			return Reply{Text: `{"success":true,"data":{"operations":[` + strings.Join(operations(), ",") + `]}}`}, nil
		},
	}
}

// C10: no form of the report, and no error, holds a character of the server that a terminal would obey: escape
// sequences, line breaks, and characters that are invisible or change the direction of writing.
func TestNothingOfTheServerReachesATerminal(t *testing.T) {
	const evil = "x\x1b[2J\n\r\t\u009b31m\u202e\u2066\u200b\u2028\x7f\x00"
	name := asJSON(evil)
	server := answering(
		func() []string {
			return []string{
				fmt.Sprintf(`{"name":%s,"semantic_category":%s,"endpoint":%s,"description":%s}`, name, name, name, name),
			}
		},
		func(string) string {
			return fmt.Sprintf(`{"name":%s,%s:1,"mcpTool":%s,"parameters":[{"name":%s,"type":%s,"required":true}]}`, name, name,
				name, name, name)
		})
	server.tools = append(server.tools, Tool{Name: strings.ReplaceAll(evil, "\n", "") + "_mcp_aql"})
	check := func(form, text, keep string) {
		t.Helper()
		if i := strings.IndexFunc(
			text,
			func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune(keep, r) },
		); i >= 0 {
			t.Errorf("%s holds %q", form, text[max(0, i-60):min(len(text), i+20)])
		}
	}
	if _, err := Run(t.Context(), server, Options{}); err == nil || !strings.Contains(err.Error(), "several adapters") {
		t.Error(err)
	} else {
		check("the error about prefixes", err.Error(), "")
	}
	server.tools = server.tools[:1]
	report, err := Run(t.Context(), server, Options{Implementation: evil, Version: evil})
	if err != nil {
		t.Fatal(err)
	}
	for _, verbose := range []bool{false, true} {
		var text bytes.Buffer
		if err := report.Text(&text, verbose); err != nil {
			t.Fatal(err)
		}
		check("the text", text.String(), "\n")
		for line := range strings.Lines(text.String()) {
			if strings.HasPrefix(line, "\\") || strings.HasPrefix(line, "x") && !strings.HasPrefix(line, `x\u001b`) {
				t.Errorf("the server begins a line: %q", line)
			}
		}
	}
	var page bytes.Buffer
	if err := report.Markdown(&page); err != nil {
		t.Fatal(err)
	}
	check("the page", page.String(), "\n")
	document, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	printable := PrintableJSON(document)
	check("the JSON", string(printable), "\n")
	var one, other any
	if err := errors.Join(
		json.Unmarshal(document, &one),
		json.Unmarshal(printable, &other),
	); err != nil ||
		!equal(one, other) {
		t.Errorf("PrintableJSON made another document: %v", err)
	}
}

// C10: the errors of a run are in one line, too.
func TestErrorsAreInOneLine(t *testing.T) {
	evil := "no\x1b[2J\nroot:"
	for name, server := range map[string]*fake{
		"an answer": {tools: []Tool{{Name: "mcp_aql"}},
			answer: func(string, string) (Reply, error) { return Reply{Text: evil}, nil }},
		"an error": {tools: []Tool{{Name: "mcp_aql"}},
			answer: func(string, string) (Reply, error) { return Reply{}, errors.New(evil) }},
	} {
		_, err := Run(t.Context(), server, Options{})
		if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// C10: a run asks nothing of the server after its context ended, however much the server lists; and a list of many
// operations is read, named and compared by sets. The work per operation does not grow with their number: a list
// that is compared with itself would take 10^9 steps here.
func TestManyOperations(t *testing.T) {
	const n = 30_000
	var list []string
	for i := range n {
		verb := []string{"create", "get", "update", "delete"}[i%4]
		list = append(
			list,
			fmt.Sprintf(`{"name":"%s_thing%d","semantic_category":"READ","endpoint":"read","description":"x"}`,
				verb, i/4),
		)
	}
	detail := func(name string) string {
		verb, _, _ := strings.Cut(name, "_")
		category := map[string]string{"create": "CREATE", "get": "READ", "update": "UPDATE", "delete": "DELETE"}[verb]
		return fmt.Sprintf(`{"name":%q,"semantic_category":%q,"endpoint":"read","parameters":[{"name":"id","type":"string",`+
			`"required":true}]}`, name, category)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	server := answering(func() []string { return list }, detail)
	answer := server.answer
	calls, late := 0, 0
	server.answer = func(tool, arguments string) (Reply, error) {
		if ctx.Err() != nil {
			late++
		}
		if calls++; calls == n+500 { // all is introspected, and operations are called
			cancel(errors.New("the time is over"))
		}
		return answer(tool, arguments)
	}
	_, err := Run(ctx, server, Options{})
	if err == nil || !strings.Contains(err.Error(), "the time is over") {
		t.Errorf("%v", err)
	}
	if calls < n || late > 0 {
		t.Errorf("%d calls, of which %d came after the end", calls, late)
	}
}
