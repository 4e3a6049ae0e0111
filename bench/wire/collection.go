package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/aqltag/aqltag/runtime/bench/wire/tasks"
	"github.com/aqltag/aqltag/runtime/internal/cursor"
)

// A page is the first 25 of the tasks, the newest first, for which three conditions hold.
const (
	pageSize   = 25
	manyTasks  = 100_000
	fewTasks   = 10_000
	taskFilter = `{"status":"open","priority":{"in":["medium","high"]},"minutes":{"gte":60}}`
	taskQuery  = `{"filter":` + taskFilter + `,"sort":{"field":"created_at","order":"desc"},"first":25}`
)

// pageCost is what candidates that list by hand leave out.
const pageCost = "the call, cursors, the answer"

func wanted(t *tasks.Task) bool {
	return t.Status == tasks.Open && (t.Priority == tasks.Medium || t.Priority == tasks.High) && t.Minutes >= 60
}

func newest(a, b *tasks.Task) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.TaskID, a.TaskID))
}

// ids are those of a page, which all candidates find.
type ids []string

func idsOf(found []*tasks.Task) *ids {
	page := make(ids, len(found))
	for i, t := range found {
		page[i] = t.TaskID
	}
	return &page
}

// idsIn returns the ids of tasks.
func idsIn(found []tasks.Task) *ids {
	page := make(ids, len(found))
	for i := range found {
		page[i] = found[i].TaskID
	}
	return &page
}

// collection returns a service of n tasks, and a candidate that calls one of its operations.
func collection(ctx context.Context, n int, operation string) (*tasks.Service, Candidate, error) {
	s := &tasks.Service{Tasks: tasks.Make(n)}
	for i := range s.Tasks {
		s.Pointers = append(s.Pointers, &s.Tasks[i])
	}
	a, err := adapter(tasks.NewRegistry(s))
	if err != nil {
		return nil, Candidate{}, err
	}
	ours, request := caller(ctx, a, readTool), envelope(operation, taskQuery)
	return s, Candidate{Name: "aql-tag", Run: func() (any, error) {
		if _, err := ours(request); err != nil {
			return nil, err
		}
		return idsIn(s.Found), nil
	}}, nil
}

func pageOfSlice(ctx context.Context) (Group, error) {
	s, ours, err := collection(ctx, manyTasks, "list_tasks")
	return Group{Candidates: []Candidate{
		ours,
		{Name: "loop + SortFunc over pointers", LeavesOut: pageCost, Run: func() (any, error) {
			var found []*tasks.Task
			for i := range s.Tasks {
				if t := &s.Tasks[i]; wanted(t) {
					found = append(found, t)
				}
			}
			slices.SortFunc(found, newest)
			return idsOf(found[:pageSize]), nil
		}},
		{Name: "loop + bounded insertion", LeavesOut: pageCost, Run: func() (any, error) {
			first := make([]*tasks.Task, 0, pageSize+1)
			for i := range s.Tasks {
				t := &s.Tasks[i]
				if !wanted(t) || len(first) == pageSize && newest(t, first[pageSize-1]) > 0 {
					continue
				}
				at, _ := slices.BinarySearchFunc(first, t, newest)
				first = slices.Insert(first, at, t)
				first = first[:min(len(first), pageSize)]
			}
			return idsOf(first), nil
		}},
	}}, err
}

func pageOfPointers(ctx context.Context) (Group, error) {
	s, ours, err := collection(ctx, manyTasks, "list_pointers")
	return Group{Candidates: []Candidate{
		ours,
		{Name: "loop + SortFunc", LeavesOut: pageCost, Run: func() (any, error) {
			var found []*tasks.Task
			for _, t := range s.Pointers {
				if wanted(t) {
					found = append(found, t)
				}
			}
			slices.SortFunc(found, newest)
			return idsOf(found[:pageSize]), nil
		}},
	}}, err
}

func pageOfStream(ctx context.Context) (Group, error) {
	s, ours, err := collection(ctx, manyTasks, "list_stream")
	return Group{Candidates: []Candidate{
		ours,
		{Name: "loop + SortFunc", LeavesOut: pageCost, Run: func() (any, error) {
			var found []*tasks.Task
			for t, err := range s.Each() {
				if err != nil {
					return nil, err
				}
				if wanted(&t) {
					kept := t
					found = append(found, &kept)
				}
			}
			slices.SortFunc(found, newest)
			return idsOf(found[:pageSize]), nil
		}},
	}}, err
}

// groupCount counts the tasks of each status.
func groupCount(ctx context.Context) (Group, error) {
	s := &tasks.Service{Tasks: tasks.Make(manyTasks)}
	a, err := adapter(tasks.NewRegistry(s))
	if err != nil {
		return Group{}, err
	}
	ours := caller(ctx, a, readTool)
	request := envelope("list_tasks", `{"aggregate":{"n":{"group_by":"status","count":true}}}`)
	var counts struct {
		Data struct {
			Aggregations struct{ N map[tasks.Status]int }
		}
	}
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			reply, err := ours(request)
			if err != nil {
				return nil, err
			}
			counts.Data.Aggregations.N = nil
			err = json.Unmarshal(reply, &counts)
			return &counts.Data.Aggregations.N, err
		}},
		{Name: "map by hand", LeavesOut: pageCost, Run: func() (any, error) {
			n := make(map[tasks.Status]int)
			for i := range s.Tasks {
				n[s.Tasks[i].Status]++
			}
			return &n, nil
		}},
	}}, nil
}

// pageOfMaps compares with a server that knows its elements as JSON only, and that has them decoded already.
func pageOfMaps(ctx context.Context) (Group, error) {
	s, ours, err := collection(ctx, fewTasks, "list_tasks")
	if err != nil {
		return Group{}, err
	}
	text, err := json.Marshal(s.Tasks)
	if err != nil {
		return Group{}, err
	}
	var maps []map[string]any
	if err := json.Unmarshal(text, &maps); err != nil {
		return Group{}, err
	}
	var filter map[string]any
	if err := json.Unmarshal([]byte(taskFilter), &filter); err != nil {
		return Group{}, err
	}
	return Group{Candidates: []Candidate{
		ours,
		{Name: "evaluator of map[string]any", LeavesOut: pageCost, Run: func() (any, error) {
			var found []map[string]any
			for _, m := range maps {
				if matches(m, filter) {
					found = append(found, m)
				}
			}
			slices.SortFunc(found, func(a, b map[string]any) int {
				return cmp.Or(compareAny(b["created_at"], a["created_at"]), compareAny(b["task_id"], a["task_id"]))
			})
			var page ids
			for _, m := range found[:pageSize] {
				id, _ := m["task_id"].(string)
				page = append(page, id)
			}
			return &page, nil
		}},
	}}, nil
}

// matches reports whether the conditions of a filter hold for m.
func matches(m, filter map[string]any) bool {
	for name, condition := range filter {
		value, present := m[name]
		operators, ok := condition.(map[string]any)
		if !ok {
			operators = map[string]any{"eq": condition}
		}
		for operator, operand := range operators {
			if !present || !holds(value, operator, operand) {
				return false
			}
		}
	}
	return true
}

func holds(value any, operator string, operand any) bool {
	switch operator {
	case "in":
		set, _ := operand.([]any)
		return slices.ContainsFunc(set, func(one any) bool { return compareAny(value, one) == 0 })
	case "gte":
		return compareAny(value, operand) >= 0
	default:
		return compareAny(value, operand) == 0
	}
}

// compareAny compares texts with texts and numbers with numbers.
func compareAny(a, b any) int {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b)
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
	}
	return -1
}

const (
	withoutQuery = "aql-tag, without the query"
	callOfNote   = "aql-tag, call/small"
	decodeOfNote = "aql-tag, decode/small"
)

// readQuery is a call of a collection without elements. What it takes beyond the same call without parameters is the
// reading of the query: filter, sort, and the cursor with what that is bound to. Another call is no measure for that:
// it makes no page, and answers less.
func readQuery(ctx context.Context) (Group, error) {
	s := &tasks.Service{Tasks: tasks.Make(fewTasks)}
	a, err := adapter(tasks.NewRegistry(s))
	if err != nil {
		return Group{}, err
	}
	ours := caller(ctx, a, readTool)
	reply, err := ours(envelope("list_tasks", taskQuery))
	if err != nil {
		return Group{}, err
	}
	cursor, err := endCursor(reply)
	if err != nil {
		return Group{}, err
	}
	request := envelope("list_tasks", taskQuery[:len(taskQuery)-1]+`,"after":"`+cursor+`"}`)
	s.Tasks = nil
	bare := envelope("list_tasks", "{}")
	notes, err := adapter(service.NewRegistry(new(service.Service)))
	if err != nil {
		return Group{}, err
	}
	note, small := caller(ctx, notes, createTool), envelope("create_note", smallText)
	decode, err := decoder[service.CreateNoteRequest]("create_note")
	if err != nil {
		return Group{}, err
	}
	text := []byte(smallText)
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			reply, err := ours(request)
			return &reply, err
		}},
		{Name: withoutQuery, LeavesOut: "the query", Floor: true, Run: func() (any, error) {
			reply, err := ours(bare)
			return &reply, err
		}},
		{Name: callOfNote, LeavesOut: "the query, the page", Floor: true, Run: func() (any, error) {
			reply, err := note(small)
			return &reply, err
		}},
		{Name: decodeOfNote, LeavesOut: "the query, the call", Floor: true, Run: func() (any, error) { return decode(text) }},
	}}, nil
}

// sealCursor seals the position of a task and opens it.
func sealCursor(context.Context) (Group, error) {
	box, err := cursor.NewBox(make([]byte, cursor.KeySize))
	if err != nil {
		return Group{}, err
	}
	bound, position := sha256.Sum256([]byte(taskFilter)), []byte("\x01\x80\xa6\xb3\x95\x0d\x00\x01\x13task_01234567000001")
	request := envelope("list_tasks", taskQuery)
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			opened, ok := box.Open(bound[:], box.Seal(bound[:], position))
			if !ok {
				return nil, errors.New("the cursor does not open")
			}
			text := string(opened)
			return &text, nil
		}},
		{Name: "json.Valid of the request", LeavesOut: "everything but syntax", Floor: true, Run: func() (any, error) {
			if !json.Valid(request) {
				return nil, errInvalid
			}
			return nil, nil
		}},
	}}, nil
}
