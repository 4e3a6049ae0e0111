package aql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// REQ-ER-13: what an agent learns of a handler's error, and what the log has of it.
func TestHandlerFailure(t *testing.T) {
	secret := errors.New("password of /src/db.go:12")
	for _, tt := range []struct {
		name   string
		err    error
		ctxErr error
		want   string // without details
		log    string
	}{
		{"a failure made for agents", NotFound("note", "7"), nil, "NOT_FOUND_RESOURCE: Resource 'note' not found: '7'", ""},
		{"a wrapped one", fmt.Errorf("getting: %w", Denied("no")), nil, "PERMISSION_DENIED: Permission denied: 'no'", ""},
		{"its cause stays in the log", NotFound("note", "7").WithCause(secret), nil,
			"NOT_FOUND_RESOURCE: Resource 'note' not found: '7'", `cause="password of /src/db.go:12"`},
		{"a code of the service", Errorf("CONFLICT_LOCKED", "locked by %s", "ann"), nil, "CONFLICT_LOCKED: locked by ann",
			""},
		{"a message that leaks", Errorf("CONFLICT_LOCKED", "%w", secret), nil, "CONFLICT_LOCKED: Operation 'drop' failed",
			`message withheld: it has a source file with a line" operation=drop session_id=s1 ` +
				`error="CONFLICT_LOCKED: password of /src/db.go:12" cause="password of /src/db.go:12" found=.go:1`},
		{"a detail that leaks", Denied("no").WithDetail("at", []string{"/src/db.go:12"}), nil,
			"PERMISSION_DENIED: Permission denied: 'no'", `detail 'at' withheld: it has a source file with a line`},
		{"the name of a detail that leaks", Denied("no").WithDetail("db.go:12", 1), nil,
			"PERMISSION_DENIED: Permission denied: 'no'", `detail 'db.go:12' withheld: its name has a source file with a line`},
		// C12, REQ-ER-08: names leak what texts do, at every depth.
		{"a path in a name in a detail", Denied("no").WithDetail("at", map[string]any{"a": []any{map[string]int{
			"/home/ada/notes.db": 1}}}), nil, "PERMISSION_DENIED: Permission denied: 'no'",
			`detail 'at' withheld: it has a path on the server`},
		{"a Go type in the name of a detail", Denied("no").WithDetail("*fs.PathError", 1), nil,
			"PERMISSION_DENIED: Permission denied: 'no'",
			`detail '*fs.PathError' withheld: its name has the name of a Go type or function`},
		{"a detail that is not JSON", Denied("no").WithDetail("at", make(chan int)), nil,
			"PERMISSION_DENIED: Permission denied: 'no'", "unsupported type: chan int"},
		{"a mistyped code", Errorf("NOTFOUND_RESOURCE", "no such note"), nil,
			"INTERNAL_ERROR: Internal error: 'unexpected failure'",
			"did you mean NOT_FOUND_RESOURCE?"},
		{"a code that is none", Errorf("Oops", "no such note"), nil, "INTERNAL_ERROR: Internal error: 'unexpected failure'",
			"one of the prefixes VALIDATION_"},
		{"any other error", secret, nil, "INTERNAL_ERROR: Internal error: 'unexpected failure'", "password"},
		{"a panic", &panicError{text: "oh", stack: []byte("main.go:3")}, nil,
			"INTERNAL_ERROR: Internal error: 'unexpected failure'", "main.go:3"},
		{"the end of the handler's time", context.DeadlineExceeded, context.DeadlineExceeded,
			"INTERNAL_ERROR: Internal error: 'operation timed out'", "deadline"},
		{"the end of the request", context.Canceled, context.Canceled,
			"INTERNAL_ERROR: Internal error: 'request was cancelled'", "cancel"},
		{"a deadline that is not the handler's", context.DeadlineExceeded, nil,
			"INTERNAL_ERROR: Internal error: 'operation timed out'", "deadline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, text := stageLog()
			failed := reporter{log: log, operation: "drop", session: "s1", label: "r1"}.handlerFailure(t.Context(),
				new(run).judge(t.Context(), tt.err), tt.ctxErr)
			checkText(t, "failure", tt.want, failed.Error())
			if !strings.Contains(text.String(), tt.log) || tt.log == "" && text.Len() > 0 {
				t.Errorf("log %q, want %q", text, tt.log)
			}
			if internal := failed.Code == "INTERNAL_ERROR"; internal != strings.Contains(asJSON(failed),
				`"request_id":"r1","session_id":"s1"`) {
				t.Errorf("details of %s", asJSON(failed))
			}
		})
	}
}

// A client's label names its request in the log, unless it is absent or too long.
func TestRequestID(t *testing.T) {
	for label, own := range map[string]bool{"r1": true, "": false, strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false} {
		got := requestID(label)
		if own && got != label || !own && (!strings.HasPrefix(got, "req_") || len(got) < 20) {
			t.Errorf("label of %d bytes: %s", len(label), got)
		}
	}
}
