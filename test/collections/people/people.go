// Package people has people, teams and tasks that are related to each other, for tests of relations.
package people

import (
	"context"
	"errors"
	"slices"

	aql "github.com/aqltag/aqltag/runtime"
)

// Person is somebody.
type Person struct {
	PersonID string `json:"person_id" aql:"id"`
	Name     string `json:"name"`
	BossID   string `json:"boss_id"`
	TeamID   *int64 `json:"team_id"`
}

// Team is what persons belong to.
type Team struct {
	ID    int64  `json:"id" aql:"id"`
	Title string `json:"title"`
}

// Task is something to do.
type Task struct {
	TaskID  string `json:"task_id" aql:"id"`
	OwnerID string `json:"owner_id"`
	AfterID string `json:"after_id"`
}

// Office has them all.
type Office struct {
	Persons []*Person
	Teams   []*Team
	Tasks   []*Task

	Loads []Load                                  // in their order
	Fail  func(ctx context.Context, l Load) error // before a load; nil: none fails
}

// Load is a call of a loader.
type Load struct {
	Loader string
	Keys   []any
}

// load notes a call of a loader.
func load[K any](ctx context.Context, o *Office, loader string, keys []K) error {
	l := Load{Loader: loader}
	for _, key := range keys {
		l.Keys = append(l.Keys, key)
	}
	o.Loads = append(o.Loads, l)
	if o.Fail != nil {
		return o.Fail(ctx, l)
	}
	return nil
}

// ErrNone is the error of what is not there.
var ErrNone = errors.New("there is none in /var/lib/people")

// GetPerson returns a person.
//
//aql:op category=READ
func (o *Office) GetPerson(_ context.Context, personID string) (*Person, error) {
	i := slices.IndexFunc(o.Persons, func(p *Person) bool { return p.PersonID == personID })
	if i < 0 {
		return nil, aql.NotFound("person", personID)
	}
	return o.Persons[i], nil
}

// ListPersons lists the persons of a team, or all.
//
//aql:op category=READ
func (o *Office) ListPersons(_ context.Context, teamID *int64) ([]*Person, error) {
	var found []*Person
	for _, p := range o.Persons {
		if teamID == nil || p.TeamID != nil && *p.TeamID == *teamID {
			found = append(found, p)
		}
	}
	return found, nil
}

// GetTeam returns a team.
//
//aql:op category=READ
func (o *Office) GetTeam(_ context.Context, id int64) (Team, error) {
	for _, t := range o.Teams {
		if t.ID == id {
			return *t, nil
		}
	}
	return Team{}, ErrNone
}

// GetTask returns a task.
//
//aql:op category=READ
func (o *Office) GetTask(_ context.Context, taskID string) (*Task, error) {
	for _, t := range o.Tasks {
		if t.TaskID == taskID {
			return t, nil
		}
	}
	return nil, nil
}

// ListTasks lists the tasks of a person, or all.
//
//aql:op category=READ,op=list_work
func (o *Office) ListTasks(_ context.Context, ownerID string) ([]*Task, error) {
	var found []*Task
	for _, t := range o.Tasks {
		if ownerID == "" || t.OwnerID == ownerID {
			found = append(found, t)
		}
	}
	return found, nil
}

// PersonsByID loads persons by their ids.
//
//aql:relation Person.boss by=BossID,to=get_person,type=references
//aql:relation Task.owner by=OwnerID,to=get_person,param=person_id,type=uses,inverse=Person.tasks,desc='Who does it'
func (o *Office) PersonsByID(ctx context.Context, ids []string) (map[string]*Person, error) {
	found := make(map[string]*Person)
	for _, p := range o.Persons {
		if slices.Contains(ids, p.PersonID) {
			found[p.PersonID] = p
		}
	}
	return found, load(ctx, o, "persons", ids)
}

// TeamsByID loads teams by their ids.
//
//aql:relation Person.team by=TeamID,to=get_team,inverse=Team.members
func (o *Office) TeamsByID(ctx context.Context, ids []int64) (map[int64]*Team, error) {
	found := make(map[int64]*Team)
	for _, t := range o.Teams {
		if slices.Contains(ids, t.ID) {
			found[t.ID] = t
		}
	}
	return found, load(ctx, o, "teams", ids)
}

// Members loads the members of teams.
//
//aql:relation Team.members by=ID,to=list_persons,param=team_id,many,type=composes,inverse=Person.team
func (o *Office) Members(ctx context.Context, teams []int64) (map[int64][]*Person, error) {
	found := make(map[int64][]*Person)
	for _, p := range o.Persons {
		if p.TeamID != nil && slices.Contains(teams, *p.TeamID) {
			found[*p.TeamID] = append(found[*p.TeamID], p)
		}
	}
	return found, load(ctx, o, "members", teams)
}

// TasksOf loads the tasks of persons.
//
//aql:relation Person.tasks by=PersonID,to=list_work,param=owner_id,many
func (o *Office) TasksOf(ctx context.Context, persons []string) (map[string][]*Task, error) {
	found := make(map[string][]*Task)
	for _, t := range o.Tasks {
		if slices.Contains(persons, t.OwnerID) {
			found[t.OwnerID] = append(found[t.OwnerID], t)
		}
	}
	return found, load(ctx, o, "tasks of", persons)
}

// TasksByID loads tasks by their ids.
//
//aql:relation Task.after by=AfterID,to=get_task,type=extends
func (o *Office) TasksByID(ctx context.Context, ids []string) (map[string]*Task, error) {
	found := make(map[string]*Task)
	for _, t := range o.Tasks {
		if slices.Contains(ids, t.TaskID) {
			found[t.TaskID] = t
		}
	}
	return found, load(ctx, o, "tasks", ids)
}
