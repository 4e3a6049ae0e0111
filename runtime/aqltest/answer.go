package aqltest

import (
	"encoding/json"
	"testing"
)

// Answer is a response to an agent (MCP-AQL operations §3). A success has Data; a failure has Code, Message and
// Details.
type Answer struct {
	Success  bool
	Data     json.RawMessage
	Code     string
	Message  string
	Details  json.RawMessage
	Warnings []Warning
	Results  []Answer // of a batch, in order; an operation that the batch did not reach has none
	JSON     []byte   // the whole response
	request  string
}

// Warning is a warning in a success (MCP-AQL warnings §3).
type Warning struct {
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Severity string          `json:"severity"`
	Details  json.RawMessage `json:"details"`
}

// Decode decodes Data into v with json.Unmarshal. The test ends if the operation failed or the data do not fit.
func (a Answer) Decode(tb testing.TB, v any) {
	tb.Helper()
	if !a.Success {
		tb.Fatalf("%s\nfails with %s: %s\n%s", a.request, a.Code, a.Message, a.Details)
	}
	if err := json.Unmarshal(a.Data, v); err != nil {
		tb.Fatalf("%s\nis answered with data that do not fit: %v\n%s", a.request, err, a.Data)
	}
}

// Succeeds fails the test if the operation failed. It returns the answer for further calls.
func (a Answer) Succeeds(tb testing.TB) Answer {
	tb.Helper()
	if !a.Success {
		tb.Errorf("%s\nfails with %s: %s\n%s", a.request, a.Code, a.Message, a.Details)
	}
	return a
}

// Fails fails the test unless the operation failed with this code, such as NOT_FOUND_RESOURCE. It returns the answer
// for further calls.
func (a Answer) Fails(tb testing.TB, code string) Answer {
	tb.Helper()
	switch {
	case a.Success:
		tb.Errorf("%s\nsucceeds with %s, want failure %s", a.request, a.Data, code)
	case a.Code != code:
		tb.Errorf("%s\nfails with %s: %s, want %s\n%s", a.request, a.Code, a.Message, code, a.Details)
	}
	return a
}

// Detail decodes a member of Details into v. The test ends if there is no such member or it does not fit.
func (a Answer) Detail(tb testing.TB, name string, v any) {
	tb.Helper()
	var members map[string]json.RawMessage
	if len(a.Details) > 0 {
		if err := json.Unmarshal(a.Details, &members); err != nil {
			tb.Fatalf("%s\nhas details that are no object: %s", a.request, a.Details)
		}
	}
	member, has := members[name]
	if !has {
		tb.Fatalf("%s\nhas no detail %q in %s", a.request, name, a.JSON)
	}
	if err := json.Unmarshal(member, v); err != nil {
		tb.Fatalf("%s\nhas a detail %q that does not fit: %v\n%s", a.request, name, err, member)
	}
}

// Warns fails the test unless the answer has a warning with this code, such as DEPRECATION_WARNING. It returns the
// answer for further calls.
func (a Answer) Warns(tb testing.TB, code string) Answer {
	tb.Helper()
	for _, w := range a.Warnings {
		if w.Code == code {
			return a
		}
	}
	tb.Errorf("%s\nhas no warning %s in %s", a.request, code, a.JSON)
	return a
}
