package aqltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/internal/export/introspection"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe"
)

// updateVariable is the environment variable that makes Golden write its files if it is 1.
const updateVariable = "AQL_UPDATE"

// Golden compares what agents see of an adapter with a file: its tools with their descriptions and schemas, and the
// answers of introspect about every operation and every type. Every change that agents notice, of a tag, a comment or
// an option, is then visible in the diff of that file. The adapter runs with the options. With several options, the
// file has a part for each.
//
// If the file differs, the test fails with a diff and with the effects of the change on agents. To write the file, set
// AQL_UPDATE=1 or, if the test declares a boolean flag -update, set that flag. Golden declares no flag itself.
func Golden(tb testing.TB, registry *aql.Registry, path string, options ...aql.Options) {
	tb.Helper()
	if len(options) == 0 {
		options = []aql.Options{{}}
	}
	var out bytes.Buffer
	for i, o := range options {
		adapter, err := aql.New(registry, o)
		if err != nil {
			tb.Fatalf("golden file %s: %v", path, err)
		}
		if len(options) > 1 {
			fmt.Fprintf(&out, "%s part %d of %d\n\n", heading, i+1, len(options))
		}
		if err := write(&out, NewSession(tb, adapter)); err != nil {
			tb.Fatalf("golden file %s: %v", path, err)
		}
	}
	got := strings.TrimRight(out.String(), "\n") + "\n"
	if updating() {
		if err := replace(path, got); err != nil {
			tb.Fatalf("writing golden file %s: %v", path, err)
		}
		return
	}
	disk, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		tb.Fatalf("golden file %s does not exist; write it with %s=1 go test", path, updateVariable)
	}
	if err != nil {
		tb.Fatalf("reading golden file: %v", err)
	}
	// A version control system may have changed the ends of lines.
	want := strings.ReplaceAll(string(disk), "\r\n", "\n")
	if got != want {
		tb.Errorf("what agents see is not what golden file %s says:\n%s%s\n"+
			"Where that is meant, write the file anew with %s=1 go test.",
			path, udiff.Unified(path, "now", want, got), consequences(want, got), updateVariable)
	}
}

// updating reports whether golden files are to be written.
func updating() bool {
	if on, err := strconv.ParseBool(os.Getenv(updateVariable)); err == nil {
		return on
	}
	declared := flag.Lookup("update")
	return declared != nil && declared.Value.String() == "true"
}

func replace(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

// heading is the beginning of each section of a golden file.
const heading = "=="

// write writes a section for each tool and for each answer of introspect.
func write(out *bytes.Buffer, s *Session) error {
	schema, of := "", ""
	for _, tool := range s.adapter.Tools() {
		fmt.Fprintf(out, "%s tool %s\ntitle: %s\nread-only: %t\ndestructive: %t\n\n%s\n\n", heading, tool.Name, tool.Title,
			tool.ReadOnly, tool.Destructive, tool.Description)
		if string(tool.InputSchema) == schema {
			fmt.Fprintf(out, "input schema: that of %s\n\n", of)
			continue
		}
		schema, of = string(tool.InputSchema), tool.Name
		if err := indent(out, tool.InputSchema); err != nil {
			return fmt.Errorf("the schema of tool %s: %w", tool.Name, err)
		}
	}
	for _, query := range []string{"operations", "types"} {
		names, err := s.names(out, query)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, err := s.introspect(out, introspectParams{Query: query, Name: name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// names writes a list of introspect and returns the names in it. Where there is a summary in place of the list, it
// writes the pages too.
func (s *Session) names(out *bytes.Buffer, query string) ([]string, error) {
	list, err := s.introspect(out, introspectParams{Query: query})
	if err != nil || list.Protocol.Summary == nil {
		return list.names(), err
	}
	var names []string
	for page := (introspectParams{Query: query, First: describe.MostListed}); ; page.After = names[len(names)-1] {
		list, err := s.introspect(out, page)
		if err != nil {
			return nil, err
		}
		names = append(names, list.names()...)
		if list.Protocol.More == 0 || len(list.Operations) == 0 {
			return names, nil
		}
	}
}

// listed is what the answers of introspect list.
type listed struct {
	Protocol struct {
		Summary json.RawMessage
		More    int
	} `json:"_protocol"`
	Operations, Types []struct{ Name string }
}

func (l listed) names() []string {
	var names []string
	for _, entry := range append(l.Operations, l.Types...) {
		names = append(names, entry.Name)
	}
	return names
}

// introspect writes an answer of introspect and returns what it lists.
func (s *Session) introspect(out *bytes.Buffer, params introspectParams) (list listed, err error) {
	text, err := params.text()
	if err != nil {
		return list, err
	}
	answer := s.Call("introspect", text)
	fmt.Fprintf(out, "%s introspect %s\n", heading, text)
	if err := indent(out, answer.JSON); err != nil {
		return list, fmt.Errorf("the answer of introspect to %s: %w", text, err)
	}
	if params.Name != "" || !answer.Success {
		return list, nil
	}
	if err := json.Unmarshal(answer.Data, &list); err != nil {
		return list, fmt.Errorf("the answer of introspect to %s: %w", text, err)
	}
	return list, nil
}

// introspectParams are the parameters of introspect.
type introspectParams struct {
	Query string `json:"query"`
	Name  string `json:"name,omitempty"`
	First int    `json:"first,omitempty"`
	After string `json:"after,omitempty"`
}

func (p introspectParams) text() (string, error) {
	text, err := json.Marshal(p)
	return string(text), err
}

func indent(out *bytes.Buffer, text []byte) error {
	if err := json.Indent(out, text, "", "  "); err != nil {
		return err
	}
	out.WriteString("\n\n")
	return nil
}

// consequences returns the effects of a change on agents; empty: there are none, or a golden file cannot be read.
func consequences(old, new string) string {
	before, after := parts(old), parts(new)
	if len(before) != len(after) {
		return ""
	}
	var out strings.Builder
	for i := range before {
		a, err := snapshot(before[i])
		if err != nil {
			return ""
		}
		b, err := snapshot(after[i])
		if err != nil {
			return ""
		}
		for _, c := range compat.Compare(a, b) {
			fmt.Fprintf(&out, "  %s: %s\n", c.Class, c.Message)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "\nFor agents that know the old version:\n" + out.String()
}

// parts returns the parts of a golden file.
func parts(text string) []string {
	list := strings.Split("\n"+text, "\n"+heading+" part ")
	if len(list) > 1 {
		return list[1:]
	}
	return list
}

// snapshot reads the answers of introspect in a part of a golden file.
func snapshot(part string) (*compat.Snapshot, error) {
	answers := make(map[string]string)
	var pages []string
	for _, section := range strings.Split("\n"+part, "\n"+heading+" introspect ")[1:] {
		params, answer, _ := strings.Cut(section, "\n")
		answer, _, _ = strings.Cut(answer, "\n"+heading+" ")
		answers[params] = answer
		if strings.HasPrefix(params, `{"query":"operations","first":`) {
			pages = append(pages, answer)
		}
	}
	document, err := introspection.Collect(func(query, name string) ([]byte, error) {
		if query == "operations" && name == "" && pages != nil {
			return joined(answers[`{"query":"operations"}`], pages)
		}
		params, err := introspectParams{Query: query, Name: name}.text()
		return []byte(answers[params]), err
	})
	if err != nil {
		return nil, err
	}
	return compat.Parse(document)
}

// joined returns the list of operations that a summary and pages make.
func joined(summary string, pages []string) ([]byte, error) {
	type list struct {
		Success bool `json:"success"`
		Data    struct {
			Protocol   json.RawMessage   `json:"_protocol"`
			Operations []json.RawMessage `json:"operations"`
		} `json:"data"`
	}
	var whole list
	if err := json.Unmarshal([]byte(summary), &whole); err != nil {
		return nil, err
	}
	whole.Data.Operations = nil
	for _, text := range pages {
		var page list
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			return nil, err
		}
		whole.Data.Operations = append(whole.Data.Operations, page.Data.Operations...)
	}
	return json.Marshal(whole)
}
