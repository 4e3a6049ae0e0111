package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
)

// askAgain is how long the agent waits before it sends its request again.
const askAgain = time.Second

// approval has an agent ask for a deletion, until a person has decided about it in the console at an address, and then
// go on. The console is there until the demo is interrupted. The adapter keeps everything in a folder, with the
// passphrases of people.
func approval(adapter, console, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := &consoleLog{rest: os.Stderr, url: make(chan string, 1)}
	a, err := start(ctx, adapter, dir, log, "-human-only", "-console", console, "-log-level", "info",
		"-audit", filepath.Join(dir, "audit.log"))
	if err != nil {
		return err
	}
	if err = a.deletion(ctx, log.url); err == nil {
		heading("The console is there until you press Ctrl-C here.")
		<-ctx.Done()
	}
	if ctx.Err() != nil { // a person has ended it
		err = nil
	}
	return errors.Join(err, a.session.Close())
}

// deletion asks for a deletion until it is decided by a person, whom it tells where.
func (a *agent) deletion(ctx context.Context, console <-chan string) error {
	heading("An agent creates a todo, and wants to delete it. That is destructive, so a person has to approve.")
	data, err := a.success(ctx, "mcp_aql_create", "create_todo", `{"title":"Buy milk"}`, nil)
	if err != nil {
		return err
	}
	params := fmt.Sprintf(`{"todo_id":%q}`, data["todo_id"])
	details, err := a.failure(ctx, "mcp_aql_delete", "delete_todo", params, "CONFIRMATION_REQUIRED")
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case url := <-console:
		heading(fmt.Sprintf("Decide in a browser, as %s with your passphrase: %sitems/%s\n"+
			"The agent asks again until then. Ctrl-C ends it.", identity.Owner().Subject, url, details["approval_id"]))
	}
	for {
		answer, text, err := a.ask(ctx, "mcp_aql_delete", "delete_todo", params)
		switch {
		case err != nil:
			return err
		case answer.Success || answer.Error.Code != "CONFIRMATION_REQUIRED":
			heading("It was decided, and the agent is told:")
			fmt.Printf("  ← %s\n", shorten(text, 400))
			return a.goOn(ctx, params, answer.Success)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askAgain):
		}
	}
}

// goOn looks whether the todo is gone where the deletion was approved, and there where it was denied.
func (a *agent) goOn(ctx context.Context, params string, approved bool) error {
	if !approved {
		heading("It goes on without the deletion.")
		_, err := a.success(ctx, "mcp_aql_read", "get_todo", params, nil)
		return err
	}
	heading("It goes on. The todo is gone.")
	_, err := a.failure(ctx, "mcp_aql_read", "get_todo", params, "NOT_FOUND_RESOURCE")
	return err
}
