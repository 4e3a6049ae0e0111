package wire

import (
	"context"
	"encoding/json"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	jsonpatch "github.com/evanphx/json-patch/v5"
)

func mergeSmall(context.Context) (Group, error) {
	const patch = `{"title":"Buy oat milk and rye bread on the way home","priority":"low","estimate":45,"urgent":false,` +
		`"due_at":"2026-04-01T09:00:00Z"}`
	return merge("update_note", "note_id", smallText, patch,
		func(r *service.UpdateNoteRequest, v *service.Note) error { return r.Input.Apply(v) })
}

func mergeMedium(context.Context) (Group, error) {
	const stored = `{"title":"Plan the year","notes":"None so far","slug":"plan","priority":"low","estimate":1,` +
		`"urgent":false,"tags":["work"],"owner":{"name":"Grace Hopper","email":"grace@example.org","level":9},` +
		`"labels":{"team":"core","year":"2025","stage":"idea"},"due_at":"2026-01-01T00:00:00Z"}`
	return merge("update_todo", "todo_id", stored, mediumPatch,
		func(r *service.UpdateTodoRequest, v *service.Todo) error { return r.Input.Apply(v) })
}

// mediumPatch has the size of the medium request. It removes two labels, changes a part of the owner and replaces the
// rest.
const mediumPatch = mediumStart +
	`"owner":{"name":"Ada Lovelace","level":7},"labels":{"year":null,"cost_centre":"4711","region":"emea",` +
	`"stage":null,"audience":"board and auditors","source":"ledger"},"due_at":"2026-03-01T09:00:00.5Z"}`

func mergeLarge(context.Context) (Group, error) {
	text := largeText()
	return merge("update_shelf", "shelf_id", `{"items":[]}`, text,
		func(r *service.UpdateShelfRequest, v *service.Shelf) error { return r.Input.Apply(v) })
}

// merge goes from the bytes of an update to the changed resource. For aql-tag the bytes are the parameters of an update
// operation, which contain the patch. It checks the whole patch before it changes anything.
func merge[Request, Resource any](
	operation, id, stored, patch string, apply func(*Request, *Resource) error,
) (Group, error) {
	ours, err := decoder[Request](operation)
	if err != nil {
		return Group{}, err
	}
	check, err := newValidator()
	if err != nil {
		return Group{}, err
	}
	before, err := decoded[Resource](stored)
	if err != nil {
		return Group{}, err
	}
	const alreadyJSON = "; the resource is JSON already"
	params := []byte(`{"` + id + `":"thing_1","input":` + patch + `}`)
	document, change := []byte(stored), []byte(patch)
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			request, err := ours(params)
			if err != nil {
				return nil, err
			}
			after := new(Resource)
			*after = before
			return after, apply(request, after)
		}},
		{Name: "evanphx MergePatch + Unmarshal", LeavesOut: onlyDecode + alreadyJSON, Run: func() (any, error) {
			merged, err := jsonpatch.MergePatch(document, change)
			if err != nil {
				return nil, err
			}
			after := new(Resource)
			return after, json.Unmarshal(merged, after)
		}},
		{Name: "Marshal + evanphx + Unmarshal + validator", LeavesOut: anyNames, Run: func() (any, error) {
			current, err := json.Marshal(&before)
			if err != nil {
				return nil, err
			}
			merged, err := jsonpatch.MergePatch(current, change)
			if err != nil {
				return nil, err
			}
			after := new(Resource)
			if err := json.Unmarshal(merged, after); err != nil {
				return nil, err
			}
			return after, check.Struct(after)
		}},
		{Name: "json.Valid", LeavesOut: onlySyntax, Floor: true, Run: func() (any, error) {
			if !json.Valid(params) {
				return nil, errInvalid
			}
			return nil, nil
		}},
	}}, nil
}
