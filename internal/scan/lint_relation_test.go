package scan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// Lint says nothing of relations that requests can follow, of ones whose rest an operation lists, and of loaders that
// ask for several keys at a time.
func TestSoundRelations(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"context"
	"slices"

	aql "github.com/aqltag/aqltag/runtime"
)

// Task is something to do.
type Task struct {
	TaskID  string `+"`json:\"task_id\" aql:\"id,filter,sort\"`"+`
	OwnerID string `+"`json:\"owner_id\" aql:\"filter\"`"+`
}

// User is somebody, whom no operation returns that selects fields.
type User struct {
	UserID string `+"`json:\"user_id\" aql:\"id\"`"+`
	TeamID string `+"`json:\"team_id\"`"+`
}

// Team has users.
type Team struct {
	TeamID string `+"`json:\"team_id\" aql:\"id\"`"+`
	HeadID string `+"`json:\"head_id\"`"+`
}

// ListTasksRequest selects tasks.
type ListTasksRequest struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	aql.Query[Task]
	aql.Fields
}

// ListTasks lists tasks.
func ListTasks(ctx context.Context, req ListTasksRequest) (*aql.Page[Task], error) { return req.Slice(ctx, nil) }

// GetUser returns a user.
//
//aql:op category=READ
func GetUser(ctx context.Context, userID string) (*User, error) { return nil, nil }

// GetTeam returns a team.
//
//aql:op category=READ
func GetTeam(ctx context.Context, teamID string) (*Team, error) { return nil, nil }

// Owners loads the owners of tasks, a hundred at a time.
//
//aql:relation Task.owner by=OwnerID,to=get_user,param=user_id
func Owners(ctx context.Context, ids []string) (map[string]*User, error) {
	for _, id := range ids {
		if id == "" || ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for part := range slices.Chunk(ids, 100) {
		_, _ = load(ctx, part)
	}
	return load(ctx, ids)
}

func load(ctx context.Context, ids []string) (map[string]*User, error) { return nil, nil }

// TasksOf loads the tasks of users, whose rest a filter finds.
//
//aql:relation User.tasks by=UserID,to=list_tasks,many
func TasksOf(ctx context.Context, ids []string) (map[string][]*Task, error) { return nil, nil }

// Teams loads the teams of users, which are what a task leads to.
//
//aql:relation User.team by=TeamID,to=get_team
func Teams(ctx context.Context, ids []string) (map[string]*Team, error) { return nil, nil }

// Heads loads who leads teams, behind two relations.
//
//aql:relation Team.head by=HeadID,to=get_user,param=user_id
func Heads(ctx context.Context, ids []string) (map[string]*User, error) { return nil, nil }
`)
	result, err := scan.Load(t.Context(), scan.Options{
		Dir: dir, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, Cache: scantest.Cache, Lint: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, d := range result.Diagnostics {
		of := []diag.Kind{diag.KindLoop, diag.KindUnreached, diag.KindRest}
		if d.Severity == diag.Error || slices.Contains(of, d.Kind) {
			said = append(said, d.Message)
		}
	}
	if diff := cmp.Diff([]string(nil), said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
