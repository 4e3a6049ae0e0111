package main

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// process is the adapter in a process of its own, whose client says nothing.
type process struct {
	t       *testing.T
	command *exec.Cmd
	stdin   io.Closer
	log     *bufio.Scanner
}

func startProcess(t *testing.T, binary string, args ...string) *process {
	t.Helper()
	p := &process{t: t, command: exec.CommandContext(t.Context(), binary, args...)}
	stdin, err := p.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := p.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin, p.log = stdin, bufio.NewScanner(stderr)
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

var url = regexp.MustCompile(`url=(\S+)`)

// logged reads the log until a line with a text, and returns the URL in it.
func (p *process) logged(text string) string {
	p.t.Helper()
	for p.log.Scan() {
		if line := p.log.Text(); strings.Contains(line, text) {
			return url.FindStringSubmatch(line)[1]
		}
	}
	p.t.Fatalf("the log has no %q", text)
	return ""
}

// F63: of several processes that clients start with the same state, one serves the console. When it is killed, another
// one does.
func TestConsoleOfSeveralProcesses(t *testing.T) {
	if _, err := scratch.Root(); err != nil { // the program below is built from it
		t.Fatal(err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "todo")
	run(t, "go", "build", "-o", binary, ".")
	flags := []string{"-db", filepath.Join(dir, "todo.db"), "-state", filepath.Join(dir, "state.db"), "-console"}

	first := startProcess(t, binary, append(flags, "127.0.0.1:0")...)
	at := first.logged(`msg="serving the console"`)
	second := startProcess(t, binary, append(flags, strings.Trim(strings.TrimPrefix(at, "http://"), "/"))...)
	if other := second.logged(`msg="another process serves the console"`); other != at {
		t.Errorf("the console is at %s, and the second process says %s", at, other)
	}
	if err := first.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if again := second.logged(`msg="serving the console"`); again != at {
		t.Errorf("then it is at %s", again)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"login", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Errorf("the status is %d", answer.StatusCode)
	}
	if err := second.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	for second.log.Scan() { // until its end
	}
	if err := second.command.Wait(); err != nil {
		t.Errorf("when its client goes: %v", err)
	}
}
