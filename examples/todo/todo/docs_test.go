package todo_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/examples/todo/todo"
	"github.com/aqltag/aqltag/internal/scratch"
)

var updateDocs = flag.Bool("update", false, "rewrite the replies in the documentation, and the exports")

var (
	docsID     = regexp.MustCompile(`todo_[a-z0-9]{20,}`)
	docsToken  = regexp.MustCompile(`conf_[A-Za-z0-9_-]{43}`)
	docsCursor = regexp.MustCompile(`"(startCursor|endCursor)":"[^"]*"`)
	docsTime   = regexp.MustCompile(`"(created_at|updated_at|expires_at)":"[^"]*"`)
	docsFences = regexp.MustCompile("(?s)```request\n(.*?)\n```\n\n```reply\n(.*?)```")
)

// The calls in docs/requests.md are answered as it says.
func TestDocumentedRequests(t *testing.T) {
	repository, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(repository, "docs", "requests.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	service, err := todo.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{Name: "todo", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	id, calls := "", 0
	updated := docsFences.ReplaceAllStringFunc(string(text), func(block string) string {
		calls++
		parts := docsFences.FindStringSubmatch(block)
		tool, request, _ := strings.Cut(parts[1], " ")
		reply := string(session.Call(context.Background(), tool, []byte(strings.ReplaceAll(request, "TODO", id))).JSON)
		if id == "" {
			id = docsID.FindString(reply)
		}
		reply = docsTime.ReplaceAllString(docsToken.ReplaceAllString(strings.ReplaceAll(reply, id, "TODO"), "conf_TOKEN"),
			`"$1":"2026-03-01T09:00:00Z"`)
		reply = docsCursor.ReplaceAllString(reply, `"$1":"CURSOR"`)
		if !*updateDocs {
			if diff := cmp.Diff(strings.TrimSuffix(parts[2], "\n"), reply); diff != "" {
				t.Errorf("%s (-documented +answered):\n%s", parts[1], diff)
			}
		}
		return "```request\n" + parts[1] + "\n```\n\n```reply\n" + reply + "\n```"
	})
	if calls == 0 {
		t.Error("no call is documented")
	}
	if *updateDocs {
		if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
