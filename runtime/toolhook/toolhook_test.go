package toolhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
)

const message = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`

type opening = func(context.Context, *slog.Logger) (*aql.Registry, aql.Options, func(), error)

// run runs the command, and returns its exit code and what it prints.
func run(ctx context.Context, stdin io.Reader, stdout io.Writer, open opening) (code int, printed string) {
	var stderr bytes.Buffer
	d := Desk{Program: "dongle", Stdin: stdin, Stdout: stdout, Stderr: &stderr, Open: open}
	code = Command{}.Run(ctx, d, Flags{Agent: "bot"})
	return code, stderr.String()
}

// logging opens an adapter whose loop lets everything pass.
func logging(closed func()) opening {
	return func(context.Context, *slog.Logger) (*aql.Registry, aql.Options, func(), error) {
		return gen.NewRegistry(nil, nil), aql.Options{
			Name: "dongle", State: new(store.Memory), Loop: &aql.Loop{Mode: policy.Logging},
		}, closed, nil
	}
}

func TestPasses(t *testing.T) {
	var out bytes.Buffer
	closed := false
	code, printed := run(t.Context(), strings.NewReader(message), &out, logging(func() { closed = true }))
	if code != Passed || printed != "" || out.String() != "{}\n" || !closed {
		t.Errorf("code %d, %q, %q, closed: %t", code, &out, printed, closed)
	}
}

func panicking(context.Context, *slog.Logger) (*aql.Registry, aql.Options, func(), error) {
	panic("secret")
}

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errors.New("the pipe is broken") }
func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is broken") }

// A state that has no time is told apart from a loop that is asked too often: the former may have time at once.
func TestBusyIsNotTooOften(t *testing.T) {
	for message, want := range map[string]string{
		"The state of this adapter is busy, so the operation was not run. Try again.": "the state of the loop is busy",
		"API rate limit exceeded": "asked too often",
	} {
		var failed reply
		failed.Error.Code, failed.Error.Message = aql.CodeRateLimitExceeded, message
		a := asking{desk: &Desk{Program: "dongle"}, agent: "bot", log: slog.New(slog.DiscardHandler)}
		if got := a.failed(&failed); got.passes || !strings.Contains(got.reason, want) {
			t.Errorf("%q: %+v, want %q", message, got, want)
		}
	}
}

// Whatever fails, the tool use is refused, and the agent learns no details.
func TestFailuresRefuse(t *testing.T) {
	failing := func(err error, options aql.Options) opening {
		return func(context.Context, *slog.Logger) (*aql.Registry, aql.Options, func(), error) {
			return gen.NewRegistry(nil, nil), options, nil, err
		}
	}
	for name, tt := range map[string]struct {
		stdin  io.Reader
		stdout io.Writer
		open   opening
	}{
		"the input":  {broken{}, io.Discard, logging(func() {})},
		"the output": {strings.NewReader(message), broken{}, logging(func() {})},
		"opening":    {strings.NewReader(message), io.Discard, failing(errors.New("secret"), aql.Options{})},
		"no loop":    {strings.NewReader(message), io.Discard, failing(nil, aql.Options{Name: "x"})},
		"no inbox":   {strings.NewReader(message), io.Discard, failing(nil, aql.Options{Name: "x", Loop: &aql.Loop{}})},
		"options": {
			strings.NewReader(message), io.Discard, failing(nil, aql.Options{Timeout: -1, Loop: &aql.Loop{}}),
		},
		"a panic":          {strings.NewReader(message), io.Discard, panicking},
		"nothing to speak": {strings.NewReader(""), io.Discard, logging(func() {})},
	} {
		t.Run(name, func(t *testing.T) {
			code, printed := run(t.Context(), tt.stdin, tt.stdout, tt.open)
			if code != Refused || strings.Contains(printed, "secret") || strings.Contains(printed, "pipe is") {
				t.Errorf("code %d, %q", code, printed)
			}
		})
	}
}

// Neither a client that does not go on nor a state that does not answer holds the hook longer than it is to take.
func TestRefusesInTime(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin func(never chan struct{}) io.Reader
		open  func(never chan struct{}) opening
		want  int
	}{
		"reading": {
			func(never chan struct{}) io.Reader { return blocked{never} },
			func(chan struct{}) opening { return logging(func() {}) }, Refused,
		},
		"opening": {
			func(chan struct{}) io.Reader { return strings.NewReader(message) },
			func(never chan struct{}) opening {
				return func(context.Context, *slog.Logger) (*aql.Registry, aql.Options, func(), error) {
					<-never
					return nil, aql.Options{}, nil, errors.New("late")
				}
			}, Refused,
		},
		"closing": {
			func(chan struct{}) io.Reader { return strings.NewReader(message) },
			func(never chan struct{}) opening { return logging(func() { <-never }) }, Passed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := make(chan struct{})
				started := time.Now()
				code, printed := run(t.Context(), tt.stdin(never), io.Discard, tt.open(never))
				if took := time.Since(started); code != tt.want || took != defaultTimeout {
					t.Errorf("code %d after %v, %q", code, took, printed)
				}
				close(never)
			})
		})
	}
}

type blocked struct{ until chan struct{} }

func (b blocked) Read([]byte) (int, error) {
	<-b.until
	return 0, io.EOF
}
