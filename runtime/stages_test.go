package aql

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// The stages of a request are tested one by one in decode_test.go, values_test.go, invalid_test.go, checkpoint_test.go,
// refusal_test.go, run_test.go, report_test.go, answer_test.go, notices_test.go and batch_run_test.go, without an
// adapter. This file has what they share.

// textCall is a call that takes in every parameter of its operation as text.
type textCall struct {
	operation *operation
	first     map[string]bool // parameters that keepFirst protects
	given     []string        // name=value
}

func (c *textCall) next(r *wire.Reader) (known, more bool) {
	if !r.NextUnchecked() {
		return false, false
	}
	return c.member(r), true
}

func (c *textCall) member(r *wire.Reader) bool {
	name := r.Name()
	if _, known := c.operation.definition.Param(name); !known {
		return false
	}
	if value := r.Raw(); !c.first[name] {
		c.given = append(c.given, name+"="+value)
	}
	return true
}

func (c *textCall) keepFirst() {
	c.first = make(map[string]bool)
	for _, given := range c.given {
		name, _, _ := strings.Cut(given, "=")
		c.first[name] = true
	}
}

func (c *textCall) complete(_ context.Context, r *wire.Reader) {
	for _, param := range c.operation.definition.Params {
		given := strings.Contains(" "+strings.Join(c.given, " "), " "+param.Name+"=")
		if param.Required && !given {
			r.Missing(param.Name, param.Type)
		}
	}
}

// stageTypes are the types that the operations of the stages' tests mention.
var stageTypes = map[string]*gen.Type{
	"Address": {Name: "Address", Kind: gen.KindObject, Fields: []gen.Param{
		{Name: "city", Type: "string"}, {Name: "pin", Type: "string", Sensitive: true},
	}},
}

// stageOperation is an operation whose parameters are taken in by a textCall.
func stageOperation(name, family string, params ...gen.Param) *operation {
	o := &operation{
		definition: gen.Operation{Name: name, Category: gen.Read, Danger: gen.Destructive, Params: params},
		types:      stageTypes, family: family, tool: "tool_" + family,
		confirmable: true, keepsValues: true,
	}
	for i := range params {
		o.params = append(o.params, params[i].Name)
		o.sensitive = o.sensitive || o.isSensitive(&params[i])
	}
	o.newCall = func(*slots) call { return &textCall{operation: o} }
	return o
}

// stageRequest is a request for an operation, with the values of parameters: name, JSON text, name, JSON text …
func stageRequest(o *operation, values ...string) *request {
	q := &request{operation: o}
	for i := 0; i < len(values); i += 2 {
		q.values = append(q.values, paramValue{values[i], values[i+1]})
	}
	return q
}

// stageLog is a log that a test reads.
func stageLog() (*slog.Logger, *bytes.Buffer) {
	var out bytes.Buffer
	return slog.New(slog.NewTextHandler(&out, nil)), &out
}

// asJSON is a failure as it is written.
func asJSON(f *Error) string {
	if f == nil {
		return ""
	}
	w := wire.NewWriter(nil)
	writeFailure(w, f, f.details)
	return strings.TrimSuffix(strings.TrimPrefix(string(w.Bytes()), `{"success":false,"error":`), "}")
}

func checkText(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// handlerFunc is a handler that returns nothing.
type handlerFunc func(ctx context.Context) error

func (f handlerFunc) invoke(ctx context.Context, w *wire.Writer) error {
	w.Null()
	return f(ctx)
}
