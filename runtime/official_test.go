package aql

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// operationResult is the protocol's official schema of responses, which is not part of the project; nil where it is
// absent.
var operationResult = sync.OnceValues(func() (*jsonschema.Schema, error) { return official("operation-result") })

// batchOperation is the official schema of batches.
var batchOperation = sync.OnceValues(func() (*jsonschema.Schema, error) { return official("batch-operation") })

func official(name string) (*jsonschema.Schema, error) {
	path := filepath.Join("..", "..", "shared", "schemas", name+".schema.json")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	return compiler.Compile(path)
}

// checkOfficial holds a response against the official schema (REQ-RS-01, REQ-RS-02, REQ-RS-03,
// REQ-RS-04, REQ-RS-05, REQ-MT-02, REQ-ER-01, REQ-WA-02).
func checkOfficial(tb testing.TB, response []byte) {
	tb.Helper()
	checkSchema(tb, response, operationResult)
}

func checkSchema(tb testing.TB, response []byte, of func() (*jsonschema.Schema, error)) {
	tb.Helper()
	schema, err := of()
	if err != nil {
		tb.Fatal(err)
	}
	if schema == nil {
		tb.Log("the response is not validated: the official schemas are absent")
		return
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(response))
	if err != nil {
		tb.Fatalf("%v: %s", err, response)
	}
	if err := schema.Validate(document); err != nil {
		tb.Errorf("%s\nbreaks the official schema: %v", response, err)
	}
}
