package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
)

// importing is the part in which the adapter is killed. One of the imported todos is there already.
func (a *agent) importing(ctx context.Context) error {
	heading("It imports a list. That may outlive the call, so the answer is an execution …")
	data, err := a.success(ctx, "mcp_aql_execute", "import_todos", `{"todos":[{"title":"Pay the rent"},`+
		`{"title":"Buy bread","notes":"Rye"},{"title":"Water the plants"},{"title":"Call the dentist"}]}`, nil)
	if err != nil {
		return err
	}

	heading("… which adds what is new, and waits for a person before it overwrites the bread.")
	if data, err = a.await(ctx, data, "paused"); err != nil {
		return err
	}
	if progress, _ := data["progress"].(map[string]any); progress["current"] != 3.0 || progress["total"] != 4.0 {
		return fmt.Errorf("the import waits at %v, not at 3 of 4", data["progress"])
	}

	heading("There the adapter is killed. It has no time to put anything away.")
	fmt.Printf("  $ kill -9 %d\n", a.process.Pid)
	if err := a.process.Kill(); err != nil {
		return fmt.Errorf("killing the adapter: %w", err)
	}
	_ = a.session.Close() // it was killed
	another, err := start(ctx, a.adapter, a.dir, os.Stderr)
	if err != nil {
		return err
	}
	*a = *another

	heading("A new process has the import as it was, and so has the inbox, where a person sees the question and agrees.")
	params := fmt.Sprintf(`{"execution_id":%q}`, data["execution_id"])
	data, err = a.success(ctx, "mcp_aql_read", "get_execution", params, nil)
	if err != nil {
		return err
	}
	if data["status"] != "paused" {
		return fmt.Errorf("in the new process the import is %v", data["status"])
	}
	if err := a.approve(ctx); err != nil {
		return err
	}

	heading("The import goes on where it was.")
	if data, err = a.await(ctx, data, "completed"); err != nil {
		return err
	}
	if result, _ := data["result"].(map[string]any); result["added"] != 3.0 || result["overwritten"] != 1.0 {
		return fmt.Errorf("the import has come to %v", data["result"])
	}
	heading("Nothing was written twice: what is new has its first version, the bread its second.")
	data, err = a.success(ctx, "mcp_aql_read", "list_todos",
		`{"sort":{"field":"title","order":"asc"},"fields":["title","_etag"]}`, nil)
	if err != nil {
		return err
	}
	var todos []string
	items, _ := data["items"].([]any)
	for _, item := range items {
		todo, _ := item.(map[string]any)
		todos = append(todos, fmt.Sprint(todo["title"], " ", todo["_etag"]))
	}
	if !slices.Equal(todos, []string{`Buy bread W/"2"`, `Call the dentist W/"1"`, `Pay the rent W/"1"`,
		`Water the plants W/"1"`}) {
		return fmt.Errorf("after the import there are %q", todos)
	}
	return nil
}

// await asks for an execution until it has a status, and prints the first request and the last answer. Each request
// waits for a change from what the answer before it has told.
func (a *agent) await(ctx context.Context, told map[string]any, status string) (map[string]any, error) {
	for first := true; ; first = false {
		params := fmt.Sprintf(`{"execution_id":%q,"wait_ms":10000,"after_version":%q}`, told["execution_id"], told["version"])
		if first {
			fmt.Printf("  → mcp_aql_read %s\n", request("get_execution", params))
		}
		answer, text, err := a.ask(ctx, "mcp_aql_read", "get_execution", params)
		if err != nil {
			return nil, err
		}
		told = answer.Data
		switch told["status"] {
		case status:
			fmt.Printf("  ← %s\n", shorten(text, 600))
			return told, nil
		case "pending", "running", "paused":
		default:
			return nil, fmt.Errorf("the execution should have become %s: %s", status, text)
		}
	}
}

// approve is what a person does with "todo operator". That approves at a terminal only, which the demo may not have, so
// it votes as another program for people would.
func (a *agent) approve(ctx context.Context) error {
	fmt.Println("  $ todo operator list -state state.db")
	listed, err := exec.CommandContext(ctx, a.adapter, "operator", "list", "-state", a.state()).Output()
	if err != nil {
		return fmt.Errorf("listing what waits for a person: %w", err)
	}
	fmt.Printf("  %s", listed)

	state, err := sqlite.Open(ctx, a.state())
	if err != nil {
		return err
	}
	defer func() { _ = state.Close() }()
	inbox := approve.New(state)
	items, err := inbox.List(ctx)
	if err != nil {
		return err
	}
	waiting := slices.DeleteFunc(items, func(item approve.Item) bool { return item.State != approve.Open })
	if len(waiting) != 1 {
		return fmt.Errorf("%d questions wait for a person, not 1", len(waiting))
	}
	fmt.Printf("  At a terminal: todo operator approve %s -state state.db\n", waiting[0].ID)
	fmt.Println("  The demo votes for that person.")
	_, err = inbox.Vote(ctx, waiting[0].ID, approve.Vote{
		By: identity.Caller{Subject: "demo"}, Channel: "demo", Approve: true, At: time.Now(),
	})
	return err
}
