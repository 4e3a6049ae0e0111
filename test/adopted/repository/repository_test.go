package repository_test

import (
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/util"
	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/repository"
)

// registry is that of a repository in memory with one commit, and a file that Git does not know.
func registry(t *testing.T) *aql.Registry {
	t.Helper()
	files := memfs.New()
	made, err := git.Init(memory.NewStorage(), files)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := made.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"read.me", "draft.txt"} {
		if err := util.WriteFile(files, name, []byte("Hello"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tree.Add("read.me"); err != nil {
		t.Fatal(err)
	}
	author := &object.Signature{Name: "Ada", Email: "ada@example.com", When: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	if _, err := tree.Commit("Say hello", &git.CommitOptions{Author: author}); err != nil {
		t.Fatal(err)
	}
	return repository.NewRegistry(repository.NewService(made))
}

func TestStructsWithoutTagsAreRequestsAndResults(t *testing.T) {
	a := agent.New(t, registry(t))
	want := map[string]string{
		"get_commit":    "READ revision*",
		"list_commits":  "READ since limit",
		"create_branch": "CREATE name* remote merge rebase description",
		"get_branch":    "READ name*",
		"update_branch": "UPDATE name* input*",
		"delete_branch": "DELETE name* confirmation_token",
		"create_remote": "CREATE name* urls* mirror fetch",
		"get_status":    "READ",
	}
	if diff := cmp.Diff(want, a.Operations()); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	// README.md says why this library needs functions of its own.
	if written := agent.Lines(t, "."); written > 15*len(want) {
		t.Errorf("a person wrote %d lines for %d operations", written, len(want))
	}
	fields := map[string]string{"name": "string", "remote": "string", "merge": "string", "rebase": "string",
		"description": "string"}
	if diff := cmp.Diff(fields, a.Fields("Branch")); diff != "" {
		t.Errorf("fields of a branch (-want +got):\n%s", diff)
	}
}

func TestBranchesAreCreatedReadChangedAndDeleted(t *testing.T) {
	a := agent.Connect(t, registry(t))
	a.Want("create", "create_branch", `{"name":"next","remote":"origin","merge":"refs/heads/next"}`,
		`{"name":"next","remote":"origin","merge":"refs/heads/next","rebase":"","description":""}`)
	a.Refused("create", "create_branch", `{"name":"next"}`, "CONFLICT_ALREADY_EXISTS")
	a.Refused("update", "update_branch", `{"name":"next","input":{"merge":null}}`, "VALIDATION_INVALID_TYPE") // A3
	a.Want("update", "update_branch", `{"name":"next","input":{"description":"What is released","merge":""}}`,
		`{"name":"next","remote":"origin","merge":"","rebase":"","description":"What is released"}`)
	a.Want("read", "get_branch", `{"name":"next"}`,
		`{"name":"next","remote":"origin","merge":"","rebase":"","description":"What is released"}`)
	a.Refused("update", "update_branch", `{"name":"next","input":{"name":"last"}}`, "VALIDATION_READ_ONLY_FIELD")
	a.Confirmed("delete", "delete_branch", `{"name":"next"}`, "Forget what branch 'next' follows?")
	a.Refused("read", "get_branch", `{"name":"next"}`, "NOT_FOUND_RESOURCE")
}

func TestWhatIsWrongIsRefusedBeforeTheLibrarySeesIt(t *testing.T) {
	a := agent.New(t, registry(t))
	details := a.Refused("create", "create_branch", `{"name":"next","remot":"origin"}`, "VALIDATION_UNKNOWN_PARAM")
	a.Check("suggestion", details["suggestions"], `{"remot":"remote"}`)
	a.Refused("create", "create_branch", `{"remote":"origin"}`, "VALIDATION_MISSING_PARAM")
	a.Refused("create", "create_remote", `{"name":"origin","urls":[]}`, "VALIDATION_OUT_OF_RANGE")
	a.Refused("create", "create_remote", `{"name":"Or igin","urls":["https://example.com/a.git"]}`,
		"VALIDATION_PATTERN_MISMATCH")
	a.Refused("create", "create_remote", `{"name":"origin","urls":["https://example.com/a.git"],"fetch":["main"]}`,
		"VALIDATION_INVALID_FORMAT")
	a.Refused("read", "list_commits", `{"limit":1000}`, "VALIDATION_OUT_OF_RANGE")
	a.Refused("read", "list_commits", `{"since":"yesterday"}`, "VALIDATION_INVALID_TYPE")
	a.Refused("read", "get_commit", `{"revision":"nowhere"}`, "NOT_FOUND_RESOURCE")
	a.Refused("update", "update_branch", `{"name":"none","input":{"remote":"origin"}}`, "NOT_FOUND_RESOURCE")
}

func TestCommitsAndStatus(t *testing.T) {
	a := agent.New(t, registry(t))
	commit, _ := a.Data("read", "get_commit", `{"revision":"HEAD"}`).(map[string]any)
	a.Check("author", commit["author"], `{"name":"Ada","email":"ada@example.com","when":"2026-01-02T15:04:05Z"}`)
	a.Check("message", commit["message"], `"Say hello"`)
	if diff := cmp.Diff(map[string]any{"items": []any{commit}}, a.Data("read", "list_commits", `{}`)); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	a.Want("read", "list_commits", `{"since":"2026-01-03T00:00:00Z"}`, `{"items":[]}`)
	a.Want("read", "get_status", `{}`, `{"draft.txt":{"staging":63,"worktree":63,"extra":""}}`)
	a.Want("create", "create_remote", `{"name":"origin","urls":["https://example.com/a.git"]}`,
		`{"name":"origin","urls":["https://example.com/a.git"],"mirror":false,`+
			`"fetch":["+refs/heads/*:refs/remotes/origin/*"]}`)
}
