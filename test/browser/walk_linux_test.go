package browser

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/runtime/identity"
	docs "github.com/aqltag/aqltag/test/pages"
)

// example is the folder of the example, in the repository.
const example = "examples/todo"

// A newcomer does what the README of the example says, to the letter: builds it, chooses a passphrase at a terminal,
// starts it with the console in an MCP client, has an agent ask for a deletion, and approves that in the browser. Of
// what the README says, only the folder and the port are others.
func TestWalk(t *testing.T) {
	b := open(t)
	ctx, stop := context.WithTimeout(t.Context(), longest)
	defer stop()
	n := newNewcomer(ctx, t)
	n.build()
	choose(ctx, t, n.dir, strings.TrimSpace(n.next("text", "operator passphrase").Text))
	at := n.start()

	n.call()
	asked := n.call()
	b.visit(at)
	b.types("#name", identity.Owner().Subject)
	b.types("#passphrase", secretWord)
	b.click("main button")
	b.waitForText("Delete todo")
	b.click(`#rows a[href$="` + regexp.MustCompile(`ask_[A-Z2-7]+`).FindString(asked) + `"]`)
	b.waitFor("button[value=approve]")
	b.click("button[value=approve]")
	b.waitForText("delete_todo is approved.")
	n.call()

	gone := n.ask(`mcp_aql_read {"operation":"get_todo","params":{"todo_id":"todo_…"}}`)
	if !strings.Contains(gone, "NOT_FOUND_RESOURCE") {
		t.Errorf("the todo that was deleted is %s", gone)
	}
	if err := n.client.Close(); err != nil { // the end of the adapter, too
		t.Error(err)
	}
}

// newcomer does what the README of the example says.
type newcomer struct {
	*testing.T
	ctx    context.Context
	root   string       // of the repository
	dir    string       // where the newcomer works
	blocks []docs.Block // of the README, what is left of them
	client *mcp.ClientSession
	todo   string // the last todo that an agent was told of
}

func newNewcomer(ctx context.Context, t *testing.T) *newcomer {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := docs.Read(filepath.Join(root, example, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return &newcomer{T: t, ctx: ctx, root: root, dir: t.TempDir(), blocks: blocks}
}

// next returns the next block of a kind that has a text.
func (n *newcomer) next(kind, text string) docs.Block {
	n.Helper()
	i := slices.IndexFunc(n.blocks, func(block docs.Block) bool {
		return block.Kind == kind && strings.Contains(block.Text, text)
	})
	if i < 0 {
		n.Fatalf("the README has no further block of the kind %s with %q", kind, text)
	}
	block := n.blocks[i]
	n.blocks = n.blocks[i+1:]
	return block
}

// build builds the adapter, in the folder of the newcomer. What is generated is in the repository already.
func (n *newcomer) build() {
	n.Helper()
	command := regexp.MustCompile(`(?m)^go build .*$`).FindString(n.next("sh", "go build").Text)
	compiler := exec.CommandContext(n.ctx, "sh", "-c",
		strings.Replace(command, "todo-adapter", filepath.Join(n.dir, "todo-adapter"), 1))
	compiler.Dir = filepath.Join(n.root, example)
	if out, err := compiler.CombinedOutput(); err != nil {
		n.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// start starts the adapter as its client does, and returns the address of the console, which the log has.
func (n *newcomer) start() string {
	n.Helper()
	var configured struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	text := n.next("json", "-console").Text
	here := strings.NewReplacer("/path/to", n.dir, "127.0.0.1:9090", "127.0.0.1:0").Replace(text)
	if err := json.Unmarshal([]byte(here), &configured); err != nil {
		n.Fatal(err)
	}
	server := configured.MCPServers["todo"]
	adapter := exec.CommandContext(n.ctx, server.Command, server.Args...)
	log := &log{at: make(chan string, 1)}
	adapter.Dir, adapter.Stderr = n.dir, log
	client := mcp.NewClient(&mcp.Implementation{Name: "newcomer", Version: "1"}, nil)
	var err error
	if n.client, err = client.Connect(n.ctx, &mcp.CommandTransport{Command: adapter}, nil); err != nil {
		n.Fatal(err)
	}
	select {
	case at := <-log.at:
		return at
	case <-n.ctx.Done():
		n.Fatal("the log does not say where the console is")
		return ""
	}
}

// log is the log of an adapter.
type log struct {
	text []byte
	at   chan string // where the console is, once
}

var served = regexp.MustCompile(`"serving the console" url=(\S+)\n`)

func (l *log) Write(text []byte) (int, error) {
	known := served.Match(l.text)
	l.text = append(l.text, text...)
	if match := served.FindSubmatch(l.text); match != nil && !known {
		l.at <- string(match[1])
	}
	return len(text), nil
}

// call makes the next call of an agent, compares its answer with the one of the README, and returns it.
func (n *newcomer) call() string {
	n.Helper()
	request, reply := n.next("request", "").Text, n.next("reply", "").Text
	answer := n.ask(request)
	if match := docs.Shortened(reply).FindString(answer); match != answer {
		n.Fatalf("%sis answered with\n%s\nand documented as\n%s", request, answer, reply)
	}
	return answer
}

// ask makes a call, and returns its answer.
func (n *newcomer) ask(request string) string {
	n.Helper()
	tool, arguments, _ := strings.Cut(strings.ReplaceAll(request, "todo_…", n.todo), " ")
	result, err := n.client.CallTool(n.ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		n.Fatalf("%s: %v", request, err)
	}
	answer := result.Content[0].(*mcp.TextContent).Text
	if told := regexp.MustCompile(`todo_[a-z2-7]{26}`).FindString(answer); told != "" {
		n.todo = told
	}
	return answer
}
