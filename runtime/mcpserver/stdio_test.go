package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// filtered runs lines through the filter and returns what was passed on and what was answered.
func filtered(t *testing.T, input string, longest int) (passed, answers string) {
	t.Helper()
	var pass, answer bytes.Buffer
	if err := filterLines(strings.NewReader(input), &pass, &answer, longest); !errors.Is(err, io.EOF) {
		t.Fatalf("the filter ended with %v", err)
	}
	return pass.String(), answer.String()
}

const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`

// REQ-RS-07: what the SDK would end the session for is answered, and the next line passes.
func TestBadLines(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"garbage", `garbage`, parseError, "null"},
		{"cut off", `{"jsonrpc":"2.0",`, parseError, "null"},
		{"two values", ping + ping, parseError, "null"},
		{"a scalar", `7`, invalidRequest, "null"},
		{"a batch", `[` + ping + `]`, invalidRequest, "null"},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, invalidRequest, "1"},
		{"no version", `{"id":1,"method":"ping"}`, invalidRequest, "1"},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, invalidRequest, `"a"`},
		{"a method that is no string", `{"jsonrpc":"2.0","id":1,"method":5}`, invalidRequest, "1"},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, invalidRequest, "null"},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, invalidRequest, "null"},
		{"params that are a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, invalidRequest, "1"},
		{
			"nested too deeply",
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat(
				"[", 1000,
			) + strings.Repeat("]", 1000) + `}}`,
			invalidRequest, "null",
		},
		{
			"too long", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 5000) + `"}}`,
			invalidRequest, "null",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			passed, answers := filtered(t, tt.line+"\n"+ping+"\n", 4000)
			if passed != ping+"\n" {
				t.Errorf("passed on: %s", passed)
			}
			var answer struct {
				JSONRPC string
				ID      json.RawMessage
				Error   struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal([]byte(answers), &answer); err != nil {
				t.Fatalf("answer %q: %v", answers, err)
			}
			if answer.Error.Code != tt.code || string(answer.ID) != tt.id || answer.Error.Message == "" ||
				answer.JSONRPC != "2.0" {
				t.Errorf("answer %s, want code %d for id %s", answers, tt.code, tt.id)
			}
		})
	}
}

// Messages pass byte for byte; blank lines and the end of input without a newline are no faults.
func TestGoodLines(t *testing.T) {
	lines := []string{
		ping,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{"a":1,"a":9007199254740993}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`,
	}
	passed, answers := filtered(t, "\n"+strings.Join(lines, "\r\n \n"), 4000)
	if want := strings.Join(lines, "\n") + "\n"; passed != want || answers != "" {
		t.Errorf("passed on %q, answered %q", passed, answers)
	}
}

// Whatever comes, the filter does not panic, answers with JSON lines, and passes on the good line that follows.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		"", "{}", ping, "[1]", `{"jsonrpc":"2.0","id":1e5,"method":"x"}`, "\xff",
		`{"jsonrpc":"2.0","id":"\u2028","method":1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.ReplaceAll(line, "\n", " ")
		passed, answers := filtered(t, line+"\n"+ping+"\n", 200)
		if !strings.HasSuffix(passed, ping+"\n") {
			t.Fatalf("after %q the filter passes on %q", line, passed)
		}
		for answer := range strings.Lines(answers) {
			if !json.Valid([]byte(answer)) {
				t.Fatalf("%q is answered with %q", line, answer)
			}
		}
		for message := range strings.Lines(passed) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(message), &fields); err != nil || fmt.Sprint(fields["jsonrpc"]) != "2.0" {
				t.Fatalf("%q is passed on", message)
			}
		}
	})
}
