// Command demo drives the todo adapter as an agent would: with a real MCP client, over standard input and output, on a
// fresh database. It prints what goes each way, and fails when anything is not as it should be.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	adapter := flag.String("adapter", "bin/todo", "the built adapter")
	console := flag.String("console", "",
		"do nothing but ask for a deletion, until a person has decided in a console at this `address`")
	dir := flag.String("dir", ".", "`folder` of what the adapter with the console keeps")
	flag.Parse()
	demo := run
	if *console != "" {
		demo = func(adapter string) error { return approval(adapter, *console, *dir) }
	}
	if err := demo(*adapter); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo failed:", err)
		os.Exit(1)
	}
}

func run(adapter string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "todo-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	a, err := start(ctx, adapter, dir, os.Stderr)
	if err != nil {
		return err
	}
	if err := a.tour(ctx); err != nil {
		return errors.Join(err, a.session.Close())
	}
	if err := a.importing(ctx); err != nil {
		return errors.Join(err, a.session.Close())
	}
	fmt.Println("\nThat is all: tagged structs, one generated file, and a server that any MCP client can drive.")
	fmt.Println("Next, decide in a browser what an agent may do: make console")
	return a.session.Close()
}

// agent makes calls and prints them.
type agent struct {
	adapter string // the command
	dir     string // with what the adapter keeps
	session *mcp.ClientSession
	process *os.Process // the adapter
}

// start starts the adapter, with more flags, and connects an agent with it.
func start(ctx context.Context, adapter, dir string, log io.Writer, flags ...string) (*agent, error) {
	a := &agent{adapter: adapter, dir: dir}
	flags = append([]string{"-db", filepath.Join(dir, "todo.db"), "-state", a.state(), "-log-level", "warn"}, flags...)
	command := exec.Command(adapter, flags...)
	command.Stderr = log
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1.0.0"}, nil)
	var err error
	if a.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil); err != nil {
		return nil, fmt.Errorf("starting %s: %w", adapter, err)
	}
	a.process = command.Process
	return a, nil
}

// state is the file with what the adapter has to remember besides todos.
func (a *agent) state() string { return filepath.Join(a.dir, "state.db") }

// tour walks through what an agent does with the adapter, and checks every answer.
func (a *agent) tour(ctx context.Context) error {
	heading("An agent connects and lists the tools. It sees five tools, not fourteen schemas.")
	tools, err := a.session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range tools.Tools {
		for line := range strings.Lines(tool.Description) {
			if operations, ok := strings.CutPrefix(line, "Supported operations: "); ok {
				fmt.Printf("  %-16s %s", tool.Name, operations)
			}
		}
	}
	if len(tools.Tools) != 5 {
		return fmt.Errorf("%d tools are listed, not 5", len(tools.Tools))
	}

	heading("It calls introspect for the list of operations …")
	data, err := a.success(ctx, "mcp_aql_read", "introspect", `{"query":"operations"}`, func(data map[string]any) string {
		var names []string
		for _, operation := range data["operations"].([]any) {
			names = append(names, operation.(map[string]any)["name"].(string))
		}
		return strings.Join(names, ", ")
	})
	if err != nil {
		return err
	}
	if n := len(data["operations"].([]any)); n != 15 {
		return fmt.Errorf("%d operations are listed, not 15", n)
	}
	heading("… and for the parameters of one of them.")
	if _, err := a.success(ctx, "mcp_aql_read", "introspect", `{"query":"operations","name":"create_todo"}`,
		nil); err != nil {
		return err
	}

	heading("It creates a todo. The absent priority gets the documented default.")
	data, err = a.success(ctx, "mcp_aql_create", "create_todo",
		`{"title":"Buy milk","tags":["home"],"metadata":{"color":"red","labels":{"shop":"corner","aisle":"3"}}}`, nil)
	if err != nil {
		return err
	}
	id, _ := data["todo_id"].(string)
	if id == "" || data["priority"] != "medium" {
		return fmt.Errorf("the todo has id %q and priority %v", id, data["priority"])
	}

	heading("It reads the todo back.")
	if _, err := a.success(ctx, "mcp_aql_read", "get_todo", `{"todo_id":"`+id+`"}`, nil); err != nil {
		return err
	}

	heading("It updates the todo at every depth. Absent fields such as color stay; null removes the aisle.")
	data, err = a.success(ctx, "mcp_aql_update", "update_todo",
		`{"todo_id":"`+id+`","input":{"title":"Buy oat milk","metadata":{"estimate_minutes":10,"labels":{"aisle":null}}}}`,
		nil)
	if err != nil {
		return err
	}
	want := `{"color":"red","estimate_minutes":10,"labels":{"shop":"corner"}}`
	if metadata, _ := json.Marshal(data["metadata"]); string(metadata) != want || data["title"] != "Buy oat milk" {
		return fmt.Errorf("after the update the title is %v and the metadata %s", data["title"], metadata)
	}

	heading("It misspells a parameter. The handler does not run, and the answer suggests the right name.")
	if _, err := a.failure(ctx, "mcp_aql_create", "create_todo", `{"title":"Buy bread","priorty":"high"}`,
		"VALIDATION_UNKNOWN_PARAM"); err != nil {
		return err
	}

	heading("It lists what is left to do at home, one todo a page …")
	if _, err := a.success(ctx, "mcp_aql_create", "create_todo",
		`{"title":"Buy bread","tags":["home"],"due_at":"2026-03-01T09:00:00Z"}`, nil); err != nil {
		return err
	}
	const listed = `"filter":{"status":"open","tags":"home"},"sort":{"field":"due_at"},"fields":["title"],"first":1`
	data, err = a.success(ctx, "mcp_aql_read", "list_todos", "{"+listed+"}", nil)
	if err != nil {
		return err
	}
	info, _ := data["pageInfo"].(map[string]any)
	cursor, _ := info["endCursor"].(string)
	if !lists(data, "Buy bread") || info["hasNextPage"] != true {
		return fmt.Errorf("the first page is %v", data)
	}
	heading("… and goes on behind the cursor of that page. Without a due date, the milk is last.")
	data, err = a.success(ctx, "mcp_aql_read", "list_todos", "{"+listed+`,"after":"`+cursor+`"}`, nil)
	if err != nil {
		return err
	}
	if info, _ := data["pageInfo"].(map[string]any); !lists(data, "Buy oat milk") || info["hasNextPage"] != false {
		return fmt.Errorf("the second page is %v", data)
	}
	heading("A filter by what a todo does not have is refused, not ignored.")
	if _, err := a.failure(ctx, "mcp_aql_read", "list_todos", `{"filter":{"owner":"me"}}`,
		"VALIDATION_UNKNOWN_FIELD"); err != nil {
		return err
	}

	heading("It deletes the todo. That is destructive, so the answer is a token to confirm it with.")
	details, err := a.failure(ctx, "mcp_aql_delete", "delete_todo", `{"todo_id":"`+id+`"}`, "CONFIRMATION_REQUIRED")
	if err != nil {
		return err
	}
	token, _ := details["confirmation_token"].(string)

	heading("It confirms. The token is valid once, and for this todo only.")
	if _, err := a.success(ctx, "mcp_aql_delete", "delete_todo", `{"todo_id":"`+id+`","confirmation_token":"`+token+`"}`,
		nil); err != nil {
		return err
	}
	heading("The todo is gone, and the token cannot be used again.")
	if _, err := a.failure(ctx, "mcp_aql_read", "get_todo", `{"todo_id":"`+id+`"}`, "NOT_FOUND_RESOURCE"); err != nil {
		return err
	}
	_, err = a.failure(ctx, "mcp_aql_delete", "delete_todo", `{"todo_id":"`+id+`","confirmation_token":"`+token+`"}`,
		"TOKEN_ALREADY_USED")
	return err
}

// lists reports whether a page has one item, with this title.
func lists(page map[string]any, title string) bool {
	items, _ := page["items"].([]any)
	if len(items) != 1 {
		return false
	}
	item, _ := items[0].(map[string]any)
	return item["title"] == title
}

type response struct {
	Success bool
	Data    map[string]any
	Error   struct {
		Code, Message string
		Details       map[string]any
	}
}

// success makes a call that must succeed; show, if given, says what of the answer to print.
func (a *agent) success(ctx context.Context, tool, operation, params string,
	show func(map[string]any) string) (map[string]any, error) {
	answer, text, err := a.call(ctx, tool, operation, params)
	if err != nil {
		return nil, err
	}
	if !answer.Success {
		return nil, fmt.Errorf("%s failed: %s", operation, text)
	}
	if show != nil {
		text = show(answer.Data)
	}
	fmt.Printf("  ← %s\n", shorten(text, 600))
	return answer.Data, nil
}

// failure makes a call that must fail with code, and returns the details.
func (a *agent) failure(ctx context.Context, tool, operation, params, code string) (map[string]any, error) {
	answer, text, err := a.call(ctx, tool, operation, params)
	if err != nil {
		return nil, err
	}
	fmt.Printf("  ← %s\n", shorten(text, 600))
	if answer.Success || answer.Error.Code != code {
		return nil, fmt.Errorf("%s should have failed with %s", operation, code)
	}
	return answer.Error.Details, nil
}

func (a *agent) call(ctx context.Context, tool, operation, params string) (response, string, error) {
	fmt.Printf("  → %s %s\n", tool, request(operation, params))
	return a.ask(ctx, tool, operation, params)
}

// ask makes a call and prints nothing.
func (a *agent) ask(ctx context.Context, tool, operation, params string) (response, string, error) {
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: request(operation, params)})
	if err != nil {
		return response{}, "", fmt.Errorf("calling %s: %w", operation, err)
	}
	if len(result.Content) != 1 {
		return response{}, "", fmt.Errorf("calling %s: %d contents came back", operation, len(result.Content))
	}
	text := result.Content[0].(*mcp.TextContent).Text
	var answer response
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return response{}, "", fmt.Errorf("the answer to %s is not JSON: %w", operation, err)
	}
	return answer, text, nil
}

func request(operation, params string) json.RawMessage {
	return json.RawMessage(`{"operation":"` + operation + `","params":` + params + `}`)
}

func heading(text string) { fmt.Printf("\n%s\n", text) }

func shorten(text string, length int) string {
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length]) + " …"
	}
	return text
}
