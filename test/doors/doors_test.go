// Package doors attacks adapters over HTTP from another process: with thousands of connections that send slowly, read
// nothing, and ask for more than anybody needs. What the server holds in memory is bounded, and an honest caller is
// served throughout.
package doors

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	strict = flag.Bool("latency", false, "expect that the honest caller is answered within a second")
	peers  = flag.Bool("peers", false, "attack a plain server of the MCP SDK, too, and report what it takes")
)

// role is the environment variable that says what a copy of this test is to be.
const role = "DOORS_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "ours":
		serveOurs()
	case "sdk":
		serveSDK()
	case "hostile":
		attack(os.Getenv("DOORS_URL"), os.Getenv("DOORS_CONNECTIONS"))
	default:
		os.Exit(m.Run())
	}
}

// copyOf starts a copy of this test in a role. It returns its standard error, and what ends it.
func copyOf(t *testing.T, name string, environ []string, arguments ...string) (*exec.Cmd, io.Reader, func()) {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(append(os.Environ(), role+"="+name), environ...)
	output, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = input
	alive, err := command.StdinPipe() // the end of it ends the copy
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	input.Close()
	return command, output, func() {
		alive.Close()
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
		output.Close()
	}
}

// expect reads lines until one matches, and returns what the group in it does. Further lines are dropped.
func expect(t *testing.T, output io.Reader, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	lines := bufio.NewScanner(output)
	var all strings.Builder
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if found := expression.FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, output) //nolint:errcheck // until the copy ends
			return found[1]
		}
	}
	t.Fatalf("no line like %s in:\n%s", pattern, all.String())
	return ""
}

// memory returns the most bytes that a process had in memory.
func memory(t *testing.T, process *os.Process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in\n%s", status)
	}
	kib, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// honest is a caller who asks for little, and notes how long the answers take.
type honest struct {
	url   string
	took  []time.Duration
	tries int // that failed, and were repeated
}

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":` +
	`{"operation":"get_thing","params":{"id":"a"}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"honest","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}}`

// call makes a call, again if it fails.
func (h *honest) call(ctx context.Context) error {
	begun := time.Now()
	for {
		text, err := h.try(ctx)
		if err == nil && strings.Contains(text, "got a") {
			h.took = append(h.took, time.Since(begun))
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("not answered after %d tries: %s %w", h.tries, text, ctx.Err())
		}
		h.tries++
		time.Sleep(10 * time.Millisecond)
	}
}

func (h *honest) try(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, strings.NewReader(call))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read",
		"Authorization": "Bearer honest",
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// figures are what an attack cost.
type figures struct {
	memory      int
	calls       int
	median, max time.Duration
	tries       int
}

func (f figures) String() string {
	return fmt.Sprintf("%d MiB at most; %d honest calls: median %v, longest %v, %d repeated", f.memory>>20, f.calls,
		f.median.Round(10*time.Microsecond), f.max.Round(time.Millisecond), f.tries)
}

// underAttack has an honest caller call while so many connections attack a server: a number of calls, or as many as it
// can in a time.
func underAttack(t *testing.T, server string, connections, calls int, lasting time.Duration) figures {
	t.Helper()
	served, log, end := copyOf(t, server, nil, "-transport", "http", "-addr", "127.0.0.1:0")
	defer end()
	url := expect(t, log, `(http://[^ ]+/mcp)`)
	h := &honest{url: url}
	if err := h.call(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, said, endAttack := copyOf(t, "hostile", []string{
		"DOORS_URL=" + url, "DOORS_CONNECTIONS=" + strconv.Itoa(connections),
	})
	defer endAttack()
	expect(t, said, `^(ready)$`)
	h.took = nil
	ctx := t.Context()
	if server != "ours" { // which may not answer at all
		bounded, cancel := context.WithTimeout(ctx, lasting+time.Second)
		defer cancel()
		ctx = bounded
	}
	for begun := time.Now(); len(h.took) < calls || time.Since(begun) < lasting; time.Sleep(20 * time.Millisecond) {
		if err := h.call(ctx); err != nil {
			t.Log(err)
			break
		}
		if memory(t, served.Process) > 4<<30 {
			t.Log("the server has 4 GiB in memory; the attack ends")
			break
		}
	}
	slices.Sort(h.took)
	f := figures{memory: memory(t, served.Process), calls: len(h.took), tries: h.tries}
	if len(h.took) > 0 {
		f.median, f.max = h.took[len(h.took)/2], h.took[len(h.took)-1]
	}
	return f
}

// limit is how much memory a server may have under attack.
const limit = 256 << 20

// C1, C2, C6, REQ-DE-05: under attack an adapter has no more than 256 MiB in memory, and answers an honest caller.
func TestUnderAttack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of another process is read from /proc")
	}
	connections, calls, lasting := 2000, 0, time.Minute
	if testing.Short() {
		connections, calls, lasting = 200, 100, 0
	}
	t.Run("an adapter", func(t *testing.T) {
		f := underAttack(t, "ours", connections, calls, lasting)
		t.Logf("%d connections: %s", connections, f)
		if f.calls < max(calls, 1) {
			t.Errorf("the honest caller was answered %d times", f.calls)
		}
		if f.memory > limit {
			t.Errorf("%d MiB in memory, more than %d MiB", f.memory>>20, limit>>20)
		}
		if *strict && f.max > time.Second {
			t.Errorf("the longest answer took %v", f.max)
		}
	})
	if *peers {
		t.Run("a plain server of the SDK", func(t *testing.T) {
			t.Logf("%d connections: %s", connections, underAttack(t, "sdk", connections, calls, lasting))
		})
	}
}
