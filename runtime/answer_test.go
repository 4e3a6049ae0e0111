package aql

import (
	"bytes"
	"testing"
)

// An answer has memory of its own; the buffer is used again, unless it has grown large.
func TestAnswerBuffer(t *testing.T) {
	var a answer
	a.begin(0).Raw("first")
	first := a.take()
	a.begin(0).Raw("second")
	second := a.take()
	if string(first) != "first" || string(second) != "second" || cap(second) > 16 {
		t.Errorf("%q, %q with a capacity of %d", first, second, cap(second))
	}
	if a.buffer == nil {
		t.Error("a small buffer is not used again")
	}
	a.begin(0).Raw(string(bytes.Repeat([]byte("x"), largestBuffer+1)))
	if large := a.take(); len(large) != largestBuffer+1 || a.buffer != nil {
		t.Error("a large buffer is used again")
	}
}

// Which details a failure has: those of introspect have none, and the client's label is not repeated where an id is.
func TestFailureDetails(t *testing.T) {
	denied, masked := Denied("no"), internal("x")
	masked.details = []detail{{"request_id", "r1"}}
	for _, tt := range []struct {
		name, operation, label string
		failed                 *Error
		want                   string
	}{
		{"without a label", "drop", "", denied, `{"reason":"no"}`},
		{"with a label", "drop", "r1", denied, `{"reason":"no","request_id":"r1"}`},
		{"an internal error has its id already", "drop", "r1", masked, `{"request_id":"r1"}`},
		{"introspect", "introspect", "r1", denied, `{}`},
	} {
		text, err := detailsJSON(failureDetails(tt.failed, tt.operation, tt.label))
		if err != nil {
			t.Error(err)
		}
		checkText(t, tt.name, tt.want, text)
	}
}

// REQ-TL-14: which failures are errors to MCP.
func TestIsToolError(t *testing.T) {
	for _, tt := range []struct {
		code        Code
		notAnObject bool
		all, want   bool
	}{
		{code: CodeResourceNotFound}, {code: CodeInvalidType}, {code: CodeInvalidType, notAnObject: true, want: true},
		{code: codeMalformed, want: true}, {code: "INTERNAL_ERROR", want: true},
		{code: CodeResourceNotFound, all: true, want: true},
	} {
		if got := isToolError(tt.code, &message{notAnObject: tt.notAnObject}, tt.all); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}
