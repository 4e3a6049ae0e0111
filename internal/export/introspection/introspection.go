// Package introspection exports every answer of introspect: each as a file, or all of them as one document, the
// snapshot, which package compat compares with a later one. A snapshot has these members:
//
//	{
//	  "_protocol": {…},    the metadata of the operations list
//	  "operations": […],   every operation in full, introspect first
//	  "types": […]         every type in full, the protocol's first
//	}
package introspection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Files returns every answer of introspect as a file: operations.json, types.json, operations/NAME.json and
// types/NAME.json, in the order of the lists. Each file holds one indented response. It fails if describe.Introspect
// does.
func Files(a *gen.Definitions, s describe.Surface, p describe.Protocol) ([]export.File, error) {
	answers, err := describe.Introspect(a, s, p)
	if err != nil {
		return nil, err
	}
	var files []export.File
	add := func(name string, answer []byte) error {
		content, err := indented(answer)
		files = append(files, export.File{Name: name, Content: content})
		return err
	}
	if err := add("operations.json", answers.Operations()); err != nil {
		return nil, err
	}
	if err := add("types.json", answers.Types()); err != nil {
		return nil, err
	}
	var names export.FileNames
	_, err = collect(answered(answers), func(query, name string, answer []byte) error {
		return add(names.Of(query+"/", name, ".json"), answer)
	})
	return files, err
}

// Snapshot returns the answers of introspect as a snapshot, indented and with a newline at its end. The same
// definitions give the same bytes. It fails if describe.Introspect does.
func Snapshot(a *gen.Definitions, s describe.Surface, p describe.Protocol) ([]byte, error) {
	answers, err := describe.Introspect(a, s, p)
	if err != nil {
		return nil, err
	}
	return Collect(answered(answers))
}

// Introspect sends introspect with a query, operations or types, and a name, and returns the complete response. The
// name is empty for the list.
type Introspect func(query, name string) (response []byte, err error)

// Collect makes a snapshot of the answers of any adapter. It fails if introspect fails or if an answer does not have
// the form of MCP-AQL introspection §4 and §5.
func Collect(introspect Introspect) ([]byte, error) {
	return collect(introspect, func(string, string, []byte) error { return nil })
}

// Read makes a snapshot of the files that Files returns.
func Read(files fs.FS) ([]byte, error) {
	var names export.FileNames
	return Collect(func(query, name string) ([]byte, error) {
		if name == "" {
			return fs.ReadFile(files, query+".json")
		}
		return fs.ReadFile(files, names.Of(query+"/", name, ".json"))
	})
}

// answered returns the answers that were rendered for an adapter.
func answered(answers *describe.Introspection) Introspect {
	return func(query, name string) ([]byte, error) {
		switch {
		case query == "operations" && name == "":
			return answers.Operations(), nil
		case query == "operations":
			return answers.Operation(name), nil
		case name == "":
			return answers.Types(), nil
		default:
			return answers.Type(name), nil
		}
	}
}

// collect makes a snapshot and calls visit with the answer about each operation and type.
func collect(introspect Introspect, visit func(query, name string, answer []byte) error) ([]byte, error) {
	var snapshot struct {
		Protocol   json.RawMessage   `json:"_protocol,omitempty"`
		Operations []json.RawMessage `json:"operations"`
		Types      []json.RawMessage `json:"types"`
	}
	list, _, err := query(introspect, "operations", "")
	if err != nil {
		return nil, err
	}
	snapshot.Protocol = list.Protocol
	if snapshot.Operations, err = details(introspect, "operations", list.Operations, visit); err != nil {
		return nil, err
	}
	if list, _, err = query(introspect, "types", ""); err != nil {
		return nil, err
	}
	if snapshot.Types, err = details(introspect, "types", list.Types, visit); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(snapshot); err != nil {
		return nil, fmt.Errorf("rendering the snapshot: %w", err)
	}
	return text.Bytes(), nil
}

// data is the data of any answer of introspect.
type data struct {
	Protocol   json.RawMessage   `json:"_protocol"`
	Operations []json.RawMessage `json:"operations"`
	Operation  json.RawMessage   `json:"operation"`
	Types      []json.RawMessage `json:"types"`
	Type       json.RawMessage   `json:"type"`
}

// query returns the data of one answer and the whole answer.
func query(introspect Introspect, query, name string) (data, []byte, error) {
	request := query
	if name != "" {
		request = fmt.Sprintf("%s, name %q", query, name)
	}
	answer, err := introspect(query, name)
	if err != nil {
		return data{}, nil, fmt.Errorf("asking introspect for %s: %w", request, err)
	}
	var response struct {
		Success bool
		Data    data
		Error   struct{ Code, Message string }
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return data{}, nil, fmt.Errorf("reading the answer of introspect for %s: %w", request, err)
	}
	if !response.Success {
		return data{}, nil,
			fmt.Errorf("introspect for %s failed: %s %s", request, response.Error.Code, response.Error.Message)
	}
	return response.Data, answer, nil
}

// details returns each entry of a list in full.
func details(
	introspect Introspect, kind string, entries []json.RawMessage, visit func(query, name string, answer []byte) error,
) ([]json.RawMessage, error) {
	full := make([]json.RawMessage, 0, len(entries))
	for _, entry := range entries {
		var named struct{ Name string }
		if err := json.Unmarshal(entry, &named); err != nil || named.Name == "" {
			return nil, fmt.Errorf("introspect for %s lists an entry without a name", kind)
		}
		data, answer, err := query(introspect, kind, named.Name)
		if err != nil {
			return nil, err
		}
		if err := visit(kind, named.Name, answer); err != nil {
			return nil, err
		}
		detail := data.Operation
		if kind == "types" {
			detail = data.Type
		}
		if len(detail) == 0 || string(detail) == "null" {
			return nil, fmt.Errorf("introspect lists %q among the %s, and knows nothing of it by name", named.Name, kind)
		}
		full = append(full, detail)
	}
	return full, nil
}

func indented(answer []byte) ([]byte, error) {
	var text bytes.Buffer
	if err := json.Indent(&text, answer, "", "  "); err != nil {
		return nil, fmt.Errorf("indenting an answer: %w", err)
	}
	text.WriteByte('\n')
	return text.Bytes(), nil
}
