package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Snapshot renders what agents learn of an adapter from introspect as one JSON document, which package compatibility
// compares with a later one. It is indented, ends in a newline and is the same to the byte for the same definitions:
//
//	{
//	  "_protocol": {…},    the metadata of the operations list
//	  "operations": […],   every operation in full, introspect first
//	  "types": […]         every type in full, the protocol's first
//	}
//
// It fails where Introspect does.
func Snapshot(a *gen.Adapter, s Surface, p Protocol) ([]byte, error) {
	introspection, err := Introspect(a, s, p)
	if err != nil {
		return nil, err
	}
	return CollectSnapshot(func(query, name string) ([]byte, error) {
		switch {
		case query == "operations" && name == "":
			return introspection.Operations(), nil
		case query == "operations":
			return introspection.Operation(name), nil
		case name == "":
			return introspection.Types(), nil
		default:
			return introspection.Type(name), nil
		}
	})
}

// CollectSnapshot makes the document of Snapshot out of the answers of an adapter, whatever it is written in. ask sends
// introspect with a query, operations or types, and a name, empty for the list, and returns the complete response. It
// fails when ask does, and on answers that are no introspection.
func CollectSnapshot(ask func(query, name string) (response []byte, err error)) ([]byte, error) {
	var document struct {
		Protocol   json.RawMessage   `json:"_protocol,omitempty"`
		Operations []json.RawMessage `json:"operations"`
		Types      []json.RawMessage `json:"types"`
	}
	list, err := askFor(ask, "operations", "")
	if err != nil {
		return nil, err
	}
	document.Protocol = list.Protocol
	if document.Operations, err = inFull(ask, "operations", list.Operations); err != nil {
		return nil, err
	}
	if list, err = askFor(ask, "types", ""); err != nil {
		return nil, err
	}
	if document.Types, err = inFull(ask, "types", list.Types); err != nil {
		return nil, err
	}
	text, err := render(document)
	if err != nil {
		return nil, fmt.Errorf("rendering the snapshot: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return nil, fmt.Errorf("indenting the snapshot: %w", err)
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// ReadSnapshot makes the document of Snapshot out of the files that Introspection.Files lists, as they are on disk.
func ReadSnapshot(files fs.FS) ([]byte, error) {
	var names FileNames
	return CollectSnapshot(func(query, name string) ([]byte, error) {
		if name == "" {
			return fs.ReadFile(files, query+".json")
		}
		return fs.ReadFile(files, names.Of(query+"/", name, ".json"))
	})
}

// introspected is the data of any answer of introspect.
type introspected struct {
	Protocol   json.RawMessage   `json:"_protocol"`
	Operations []json.RawMessage `json:"operations"`
	Operation  json.RawMessage   `json:"operation"`
	Types      []json.RawMessage `json:"types"`
	Type       json.RawMessage   `json:"type"`
}

func askFor(ask func(query, name string) ([]byte, error), query, name string) (introspected, error) {
	what := query
	if name != "" {
		what = fmt.Sprintf("%s, name %q", query, name)
	}
	text, err := ask(query, name)
	if err != nil {
		return introspected{}, fmt.Errorf("asking introspect for %s: %w", what, err)
	}
	var response struct {
		Success bool
		Data    introspected
		Error   struct{ Code, Message string }
	}
	if err := json.Unmarshal(text, &response); err != nil {
		return introspected{}, fmt.Errorf("reading the answer of introspect for %s: %w", what, err)
	}
	if !response.Success {
		return introspected{}, fmt.Errorf("introspect for %s failed: %s %s", what, response.Error.Code, response.Error.Message)
	}
	return response.Data, nil
}

// inFull asks for each entry of a list by its name.
func inFull(ask func(query, name string) ([]byte, error), query string, entries []json.RawMessage) ([]json.RawMessage, error) {
	full := make([]json.RawMessage, 0, len(entries))
	for _, entry := range entries {
		var named struct{ Name string }
		if err := json.Unmarshal(entry, &named); err != nil || named.Name == "" {
			return nil, fmt.Errorf("introspect for %s lists an entry without a name", query)
		}
		answer, err := askFor(ask, query, named.Name)
		if err != nil {
			return nil, err
		}
		detail := answer.Operation
		if query == "types" {
			detail = answer.Type
		}
		if len(detail) == 0 || string(detail) == "null" {
			return nil, fmt.Errorf("introspect lists %q among the %s, and knows nothing of it by name", named.Name, query)
		}
		full = append(full, detail)
	}
	return full, nil
}
