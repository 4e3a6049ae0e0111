package pages

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/test/proxy"
)

var update = flag.Bool("update", false, "rewrite the replies that pages show")

// repository returns the root folder, and makes the result of the test depend on all that is in it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// A reader does what pages say, in a module of its own.
type reader struct {
	*testing.T
	dir     string
	shell   *shell
	here    *strings.Replacer  // from places on pages to those of this test
	address string             // of the last server over HTTP
	printed string             // by the last commands
	client  *mcp.ClientSession // of the last server in a configuration
	server  *Block             // the last configuration
	token   string             // the last confirmation token in a reply
	started string             // the last execution in a reply
}

// configured is a server in the configuration of an MCP client.
type configured struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// newModule returns a reader in an empty folder, who gets the modules of this work tree as from a release.
func newModule(t *testing.T) *reader {
	t.Helper()
	if testing.Short() {
		t.Skip("builds adapters in modules of their own")
	}
	p, err := proxy.New(t.Context(), repository(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return newReader(t, dir, dir, append(os.Environ(), p.Env()...))
}

// newExample returns a reader of the todo example in the work tree. What commands write is elsewhere.
func newExample(t *testing.T) *reader {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the command or the example")
	}
	return newReader(t, filepath.Join(repository(t), "examples", "todo"), t.TempDir(), os.Environ())
}

// written are files that commands on pages write or read.
var written = []string{"./todo-adapter", "todo-adapter", "todo.db", "policy.yaml", "released.json", "audit.log",
	"audit.key", "audit.head", "state.key"}

// newReader returns a reader who works in one folder and has the written files in another.
func newReader(t *testing.T, dir, files string, env []string) *reader {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh on this machine")
	}
	places := []string{"$HOME/.notes", filepath.Join(files, ".notes")}
	for _, address := range []string{"127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:9464"} {
		places = append(places, address, freeAddress(t))
	}
	if files != dir {
		for _, name := range written {
			places = append(places, name, filepath.Join(files, name))
		}
	}
	return &reader{T: t, dir: files, here: strings.NewReplacer(places...), shell: newShell(t, dir, env)}
}

// ports are what is added to 30,000 for the ports of servers. They are below those that systems give to clients, and to
// servers that name none: nobody takes one before the page starts its server.
var ports = rand.Perm(2_700)

// freeAddress returns an address at which a server can listen.
func freeAddress(t *testing.T) string {
	t.Helper()
	for len(ports) > 0 {
		address := fmt.Sprint("127.0.0.1:", 30_000+ports[0])
		ports = ports[1:]
		if listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// read returns the blocks of a page.
func read(t *testing.T, page string) []Block {
	t.Helper()
	blocks, err := Read(filepath.Join(repository(t), page))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// follow does what the blocks of a page say, in their order.
func (r *reader) follow(page string, blocks []Block) {
	r.Helper()
	request := ""
	for _, block := range blocks {
		switch block.Kind {
		case "go":
			r.write(page, block)
		case "sh":
			r.run(page, block)
		case "sh background":
			r.serve(page, block)
		case "text":
			if !Shortened(block.Text).MatchString(r.printed) {
				r.Errorf("%s:%d: this is not what was printed:\n%s\nbut this:\n%s", page, block.Line, block.Text, r.printed)
			}
		case "json":
			r.configure(page, block)
		case "yaml":
			if err := os.WriteFile(filepath.Join(r.dir, "policy.yaml"), []byte(block.Text), 0o644); err != nil {
				r.Fatal(err)
			}
		case "request":
			request = strings.TrimSpace(block.Text)
		case "reply":
			r.call(page, block, request)
		default:
			r.Errorf("%s:%d: a block of kind %q means nothing to a reader", page, block.Line, block.Kind)
		}
	}
}

// write writes a Go file, whose name is in its first line.
func (r *reader) write(page string, block Block) {
	r.Helper()
	comment, code, _ := strings.Cut(block.Text, "\n")
	name, ok := strings.CutPrefix(comment, "// ")
	if !ok || !strings.HasSuffix(name, ".go") {
		r.Errorf("%s:%d: the first line does not name the file", page, block.Line)
		return
	}
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(code), 0o644); err != nil {
		r.Fatal(err)
	}
}

// run runs commands. Those of make are the project's own, and CI runs them.
func (r *reader) run(page string, block Block) {
	r.Helper()
	commands := regexp.MustCompile(`(?m)^make .*\n`).ReplaceAllString(block.Text, "")
	if strings.TrimSpace(commands) == "" {
		return
	}
	r.Logf("%s:%d:\n%s", page, block.Line, commands)
	printed, err := r.shell.run(r.here.Replace(commands))
	if err != nil {
		r.Fatalf("%s:%d: %v", page, block.Line, err)
	}
	r.printed = printed
	if strings.Contains(commands, "go build") && r.server != nil {
		r.configure(page, *r.server) // who has built a program starts it again
	}
}

// serve starts a server and waits until it answers. It ends with the test.
func (r *reader) serve(page string, block Block) {
	r.Helper()
	command := r.here.Replace(strings.TrimSpace(block.Text))
	r.address = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(command)
	server := exec.CommandContext(r.Context(), "sh", "-c", "exec env "+command)
	server.Dir = r.shell.dir
	if err := server.Start(); err != nil {
		r.Fatalf("%s:%d: %v", page, block.Line, err)
	}
	r.Cleanup(func() { _ = server.Wait() }) // the context of the test has ended it
	for {
		request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+r.address+"/healthz", nil)
		if err != nil {
			r.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
			return
		}
		select {
		case <-r.Context().Done():
			r.Fatalf("%s:%d: %s does not answer: %v", page, block.Line, command, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// configure reads the configuration of an MCP client. Every server in it starts and answers.
func (r *reader) configure(page string, block Block) {
	r.Helper()
	var configuration struct {
		MCPServers map[string]configured `json:"mcpServers"`
	}
	// The port of a console may belong to another program.
	text := strings.NewReplacer("/path/to", r.dir, "127.0.0.1:9090", "127.0.0.1:0").Replace(block.Text)
	err := json.Unmarshal([]byte(text), &configuration)
	if err != nil || len(configuration.MCPServers) == 0 {
		r.Fatalf("%s:%d: no configuration of an MCP client: %v", page, block.Line, err)
	}
	for name, server := range configuration.MCPServers {
		command := exec.CommandContext(r.Context(), server.Command, server.Args...)
		command.Dir = r.dir
		command.Env = os.Environ()
		for key, value := range server.Env {
			command.Env = append(command.Env, key+"="+value)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "page", Version: "1"}, nil)
		session, err := client.Connect(r.Context(), &mcp.CommandTransport{Command: command}, nil)
		if err != nil {
			r.Fatalf("%s:%d: server %s: %v", page, block.Line, name, err)
		}
		r.Cleanup(func() { _ = session.Close() })
		if _, err := session.ListTools(r.Context(), nil); err != nil {
			r.Errorf("%s:%d: server %s: listing its tools: %v", page, block.Line, name, err)
		}
		r.client = session
	}
	r.server = &block
}

var (
	token = regexp.MustCompile(`conf_[A-Za-z0-9_-]{43}`)
	id    = regexp.MustCompile(`exec_[a-z2-7]{26}`)
	times = regexp.MustCompile(`"(expires_at|consumed_at)":"[^"]*"`)
)

// call sends a request to the server of the last configuration, and compares its answer with the reply of the page.
func (r *reader) call(page string, block Block, request string) {
	r.Helper()
	known := strings.NewReplacer("conf_…", r.token, "exec_…", r.started)
	tool, arguments, ok := strings.Cut(known.Replace(request), " ")
	if !ok || r.client == nil {
		r.Fatalf("%s:%d: there is no request, or no server for it", page, block.Line)
	}
	result, err := r.client.CallTool(r.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		r.Fatalf("%s:%d: %s: %v", page, block.Line, request, err)
	}
	answer := result.Content[0].(*mcp.TextContent).Text
	if found := token.FindString(answer); found != "" {
		r.token = found
	}
	if found := id.FindString(answer); found != "" {
		r.started = found
	}
	if pattern := regexp.MustCompile("^" + Shortened(block.Text).String() + "$"); pattern.MatchString(answer) {
		return
	}
	answer = times.ReplaceAllString(token.ReplaceAllString(answer, "conf_…"), `"$1":"…"`)
	if !*update {
		r.Errorf("%s:%d: %s\nis answered with\n%s\nand documented as\n%s", page, block.Line, request, answer, block.Text)
		return
	}
	file := filepath.Join(repository(r.T), page)
	text, err := os.ReadFile(file)
	if err != nil {
		r.Fatal(err)
	}
	before := "```request\n" + request + "\n```\n\n```reply\n"
	text = []byte(strings.Replace(string(text), before+block.Text, before+answer+"\n", 1))
	if err := os.WriteFile(file, text, 0o644); err != nil {
		r.Fatal(err)
	}
}
