package conform_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
	"github.com/aqltag/aqltag/internal/scratch"
)

// build builds the example once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "conform")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "todo")
	repository, err := scratch.Root()
	if err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", binary, ".")
	command.Dir = filepath.Join(repository, "examples", "todo")
	command.Stderr = os.Stderr
	return binary, command.Run()
})

func TestMain(m *testing.M) {
	if hostile() {
		return
	}
	code := m.Run()
	if binary, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(code)
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serve starts the example on HTTP and returns its endpoint.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary(t),
		append([]string{"-db", ":memory:", "-transport", "http", "-addr", "127.0.0.1:0"}, args...)...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	address := regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if found := address.FindString(lines.Text()); found != "" {
			go io.Copy(io.Discard, stderr)
			return "http://" + found + "/mcp"
		}
	}
	t.Fatal("the example does not say where it serves")
	return ""
}

func connectTo(t *testing.T, url string) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.URL(t.Context(), url, mcpclient.Options{Timeout: time.Minute})
	return client(t, c, err)
}

func startTodo(t *testing.T, args ...string) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Command(t.Context(), append([]string{binary(t), "-db", ":memory:"}, args...),
		mcpclient.Options{Timeout: time.Minute})
	return client(t, c, err)
}

func client(t *testing.T, c *mcpclient.Client, err error) *mcpclient.Client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// REQ-CL-02, REQ-CL-05: the example conforms to level 2 with no warnings over both transports and in all modes.
func TestLiveTodo(t *testing.T) {
	for _, mode := range []string{"semantic", "single", "all"} {
		other := map[string]string{"semantic": "single", "single": "semantic"}[mode]
		for name, connect := range map[string]func(t *testing.T, mode string) *mcpclient.Client{
			"stdio": func(t *testing.T, mode string) *mcpclient.Client { return startTodo(t, "-mode", mode) },
			"http":  func(t *testing.T, mode string) *mcpclient.Client { return connectTo(t, serve(t, "-mode", mode)) },
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				c := connect(t, mode)
				options := conform.Options{AllowDestructive: true, CallTimeout: time.Minute}
				options.Implementation, options.Version = c.Implementation()
				if other != "" {
					options.Other = connect(t, other)
				}
				report, err := conform.Run(t.Context(), c, options)
				if err != nil {
					t.Fatal(err)
				}
				expectPerfect(t, report)
				passed := report.ConformanceLevel == 2 && report.ExitCode() == 0
				if !passed || report.Mode != mode || report.Implementation != "todo" {
					t.Errorf("level %d, exit code %d, mode %s of %s", report.ConformanceLevel, report.ExitCode(), report.Mode,
						report.Implementation)
				}
				text, err := report.Bundle()
				if err != nil {
					t.Fatal(err)
				}
				checkBundle(t, text)
			})
		}
	}
}

// REQ-CL-02: operations that the other mode lacks are reported.
func TestOtherMode(t *testing.T) {
	lacking := list(func(data map[string]any) { data["operations"] = data["operations"].([]any)[:5] })
	lacking.Server = newTodo(t, "single")
	report, err := conform.Run(t.Context(), newTodo(t, "semantic"), conform.Options{
		Other: &lacking, Run: regexp.MustCompile("^modes/both$"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := report.Results()[0]; r.Verdict != conform.Fail || !strings.Contains(runError(r), "is missing in mode single") {
		t.Errorf("%s: %+v", r.Verdict, r)
	}
}

// counting counts the calls of each operation.
type counting struct {
	conform.Server
	calls map[string]int
}

func (c *counting) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	name, _ := object(string(arguments))["operation"].(string)
	c.calls[name]++
	return c.Server.Call(ctx, tool, arguments)
}

// Operations that the options do not permit are not called, not even with invalid parameters.
func TestOnlyWhatIsAllowedIsCalled(t *testing.T) {
	all := []string{
		"create_todo", "get_todo", "list_todos", "search_todos", "update_todo", "complete_todo", "delete_todo",
		"purge_completed",
	}
	silent := protocol(func(d map[string]any) { delete(d, "danger_levels") })
	silent.call = chain(silent.call, after("introspect", func(_ request, a answer) answer {
		if d, ok := a.data()["operation"].(map[string]any); ok {
			d["description"] = "Does something."
		}
		return a
	}).call)
	for _, tt := range []struct {
		name    string
		options conform.Options
		broken  *mutated
		want    int // of all
	}{
		{"by default", conform.Options{}, nil, 6},
		{"with destruction", conform.Options{AllowDestructive: true}, nil, 8},
		{"reading only", conform.Options{ReadOnly: true}, nil, 3},
		{"reading only, with destruction", conform.Options{ReadOnly: true, AllowDestructive: true}, nil, 3},
		{"of a server that says nothing of danger", conform.Options{}, &silent, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &counting{Server: newTodo(t, ""), calls: map[string]int{}}
			var server conform.Server = c
			if tt.broken != nil {
				tt.broken.Server = c
				server = tt.broken
			}
			if _, err := conform.Run(t.Context(), server, tt.options); err != nil {
				t.Fatal(err)
			}
			for i, name := range all {
				allowed := i < tt.want
				if tt.options.ReadOnly {
					allowed = i >= 1 && i <= tt.want
				}
				if called := c.calls[name] > 0; called != allowed {
					t.Errorf("%s: %d calls", name, c.calls[name])
				}
			}
		})
	}
}

// chain makes one mutant of two.
func chain(outer, inner func(r request, next call) answer) func(r request, next call) answer {
	return func(r request, next call) answer {
		return outer(r, func(r request) answer { return inner(r, next) })
	}
}

// The same seed makes the same requests.
func TestSeed(t *testing.T) {
	ids := regexp.MustCompile(`todo_[a-z0-9]{20,}|(conf|W/\\+)[^ ,}]*|"(after|before)":"[^" ]{20,}"`)
	record := func(seed uint64) string {
		r := &recording{Server: newTodo(t, "")}
		if _, err := conform.Run(t.Context(), r, conform.Options{Seed: seed}); err != nil {
			t.Fatal(err)
		}
		return ids.ReplaceAllString(r.String(), "ID")
	}
	one, again, other := record(1), record(1), record(2)
	if one != again {
		t.Error("seed 1 made other requests the second time")
	}
	if one == other {
		t.Error("seed 2 made the requests of seed 1")
	}
}

type recording struct {
	conform.Server
	strings.Builder
}

func (r *recording) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	r.WriteString(tool + " " + string(arguments) + "\n")
	return r.Server.Call(ctx, tool, arguments)
}
