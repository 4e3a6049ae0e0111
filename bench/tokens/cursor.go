package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tiktoken-go/tokenizer"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
)

// cursors prints what the cursors of list_todos cost, which are different ones on each page: two for each page, since
// the protocol wants both.
func cursors(ctx context.Context, codec tokenizer.Codec) (err error) {
	service, err := todo.Open(todo.Memory)
	if err != nil {
		return err
	}
	defer func() {
		if failed := service.Close(); err == nil {
			err = failed
		}
	}()
	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{Name: "todo", Version: "1.0.0"})
	if err != nil {
		return err
	}
	session := adapter.NewSession()
	defer session.Close()
	const pages = 50
	for i := range pages {
		request := fmt.Appendf(nil, `{"operation":"create_todo","params":{"title":"Write chapter %d"}}`, i)
		if reply := session.Call(ctx, "mcp_aql_create", request); reply.IsError {
			return fmt.Errorf("creating a todo: %s", reply.JSON)
		}
	}
	fmt.Println("\ntokens of a cursor, and of the pageInfo with two of them, in list_todos:")
	for _, by := range []string{"created_at", "title"} {
		var characters, cursor, info int
		after := ""
		for range pages {
			request := fmt.Appendf(nil, `{"operation":"list_todos","params":{"sort":{"field":%q},"first":1%s}}`, by, after)
			reply := session.Call(ctx, "mcp_aql_read", request).JSON
			var answer struct {
				Data struct{ PageInfo json.RawMessage }
			}
			var page struct{ EndCursor string }
			if err := json.Unmarshal(reply, &answer); err != nil {
				return fmt.Errorf("reading a page of list_todos: %w", err)
			}
			if err := json.Unmarshal(answer.Data.PageInfo, &page); err != nil {
				return fmt.Errorf("reading the pageInfo of %s: %w", reply, err)
			}
			one, err := codec.Count(page.EndCursor)
			if err != nil {
				return fmt.Errorf("counting tokens: %w", err)
			}
			all, err := codec.Count(string(answer.Data.PageInfo))
			if err != nil {
				return fmt.Errorf("counting tokens: %w", err)
			}
			characters, cursor, info = characters+len(page.EndCursor), cursor+one, info+all
			after = fmt.Sprintf(`,"after":%q`, page.EndCursor)
		}
		fmt.Printf("%-12s %6d characters %6d tokens %6d tokens\n", by, characters/pages, cursor/pages, info/pages)
	}
	return nil
}
