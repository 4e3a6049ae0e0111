package aql

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// A1, T-29, REQ-ER-04: what a constructor is given always arrives, in the message and in the details, and so does a
// message for people. The texts are those that the leak check is tested with.
func TestHarmlessErrorsArrive(t *testing.T) {
	text, err := os.ReadFile("words/testdata/harmless.txt")
	if err != nil {
		t.Fatal(err)
	}
	log, logged := stageLog()
	p := reporter{log: log, operation: "find_customer", levels: 20}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		made := []*Error{
			NotFound("customer", line), AlreadyExists("customer", line), InvalidState("order", "o1", line), Denied(line),
			VersionMismatch("customer", line, `W/"1"`, `W/"2"`), Errorf("CONFLICT_LOCKED", "%s", line),
			Errorf(CodeInvalidType, "Cannot do it: %w", errors.New(line)).WithDetail("note", line),
		}
		f := made[i%len(made)]
		checkText(t, line, asJSON(f), asJSON(p.shown(t.Context(), f, f)))
	}
	for _, line := range []string{"main.go:12", "goroutine", "/home/ada/notes", "pq: no rows"} {
		for _, f := range []*Error{
			NotFound("place", line), AlreadyExists("place", line), InvalidState("place", "p", line), Denied(line),
			VersionMismatch("place", line, "1", "2"),
		} {
			checkText(t, "identifier "+line, asJSON(f), asJSON(p.shown(t.Context(), f, fmt.Errorf("wrapped: %w", f))))
		}
	}
	if strings.Contains(logged.String(), "withheld") {
		t.Errorf("log: %.500s", logged)
	}
}

// A1, T-29, REQ-ER-08: what programs write when they fail arrives neither in a message nor in a detail. The code and
// the other details do, and the log says why.
func TestLeaksAreWithheld(t *testing.T) {
	text, err := os.ReadFile("words/testdata/leaks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range strings.Split(strings.TrimSpace(string(text)), "\n%%\n") {
		log, logged := stageLog()
		p := reporter{log: log, operation: "save_order", levels: 20}
		f := Errorf("CONFLICT_LOCKED", "%s", entry).WithDetail("trace", entry).WithDetail("list", []string{entry}).
			WithDetail("order", "A 12")
		checkText(t, entry, `{"code":"CONFLICT_LOCKED","message":"Operation 'save_order' failed","details":{"order":"A 12"}}`,
			asJSON(p.shown(t.Context(), f, f)))
		for _, what := range []string{`"message withheld: it has `, `"detail 'trace' withheld: it has `, ` found=`} {
			if !strings.Contains(logged.String(), what) {
				t.Errorf("the log of %q lacks %s: %s", entry, what, logged)
			}
		}
	}
}
