package wire

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
)

const few, many = 10, 10_000

// sameOperation calls one operation of small and large adapters.
func sameOperation(ctx context.Context) (Group, error) {
	return overOperations(ctx, createTool, func(name string) []byte { return envelope(name, smallText) }, 1)
}

// otherOperation calls another operation each time, so that the processor's caches miss.
func otherOperation(ctx context.Context) (Group, error) {
	return overOperations(ctx, createTool, func(name string) []byte { return envelope(name, smallText) }, many)
}

// introspectDetail asks for the details of one operation.
func introspectDetail(ctx context.Context) (Group, error) {
	group, err := overOperations(ctx, readTool, func(name string) []byte {
		return envelope("introspect", `{"query":"operations","name":"`+name+`"}`)
	}, 1)
	return withCopy(group, err)
}

// introspectList asks for the list of all operations of a small adapter.
func introspectList(ctx context.Context) (Group, error) {
	a, err := adapter(service.Many(few))
	if err != nil {
		return Group{}, err
	}
	ours := caller(ctx, a, readTool)
	request := envelope("introspect", `{"query":"operations"}`)
	var reply []byte
	return withCopy(Group{Candidates: []Candidate{{Name: "aql-tag", Run: func() (any, error) {
		var err error
		reply, err = ours(request)
		return &reply, err
	}}}}, nil)
}

// withCopy adds two floors: an answer that is only copied, and one that is encoded each time.
func withCopy(group Group, err error) (Group, error) {
	if err != nil {
		return group, err
	}
	first, err := group.Candidates[0].Run()
	if err != nil {
		return group, err
	}
	answer := *first.(*[]byte)
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		return group, err
	}
	var out []byte
	group.Candidates = append(group.Candidates,
		Candidate{Name: "encoding/json, of maps", LeavesOut: "reading the request", Floor: true, Run: func() (any, error) {
			var err error
			out, err = json.Marshal(value)
			return &out, err
		}},
		Candidate{Name: "copy of the answer", LeavesOut: "reading the request", Floor: true, Run: func() (any, error) {
			out = bytes.Clone(answer)
			return &out, nil
		}})
	return group, nil
}

// overOperations sends requests to adapters of 10 and 10,000 operations. It cycles through their operations, at most
// as many as different.
func overOperations(ctx context.Context, tool string, request func(name string) []byte, different int) (Group, error) {
	var group Group
	for _, size := range []struct {
		name       string
		operations int
	}{{"10 operations", few}, {"10,000 operations", many}} {
		a, err := adapter(service.Many(size.operations))
		if err != nil {
			return group, err
		}
		ours := caller(ctx, a, tool)
		requests := make([][]byte, min(different, size.operations))
		for i := range requests {
			requests[i] = request(service.Name(i))
		}
		var next int
		var reply []byte
		group.Candidates = append(group.Candidates, Candidate{Name: "aql-tag, " + size.name, Run: func() (any, error) {
			if next++; next == len(requests) {
				next = 0
			}
			var err error
			reply, err = ours(requests[next])
			return &reply, err
		}})
	}
	return group, nil
}
