package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
)

// page is a list as it is written.
type page struct {
	Items []service.Todo `json:"items"`
}

// encodeList writes a list of 25 todos of 10 fields.
func encodeList(context.Context) (Group, error) {
	list, err := todos(25)
	if err != nil {
		return Group{}, err
	}
	ours, err := encoder("list_todos", reflect.TypeFor[[]service.Todo]())
	if err != nil {
		return Group{}, err
	}
	if err := pretouch[page](); err != nil {
		return Group{}, err
	}
	sorted := sonic.Config{SortMapKeys: true}.Froze()
	var value any = list
	theirs := &page{list}
	var buf, out []byte
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			var err error
			if buf, err = ours(buf[:0], value); err != nil {
				return nil, err
			}
			out = bytes.Clone(buf)
			return &out, nil
		}},
		{Name: "aql-tag, into a reused buffer", Run: func() (any, error) {
			var err error
			buf, err = ours(buf[:0], value)
			return &buf, err
		}},
		{Name: "encoding/json", Run: func() (any, error) {
			var err error
			out, err = json.Marshal(theirs)
			return &out, err
		}},
		{Name: "json v2", Run: func() (any, error) {
			var err error
			out, err = jsonv2.Marshal(theirs, jsonv2.Deterministic(true))
			return &out, err
		}},
		{Name: "sonic, sorted names", LeavesOut: "broken UTF-8", Run: func() (any, error) {
			var err error
			out, err = sorted.Marshal(theirs)
			return &out, err
		}},
		{Name: "sonic", LeavesOut: "order of map names, " + brokenUTF8, Run: func() (any, error) {
			var err error
			out, err = sonic.Marshal(theirs)
			return &out, err
		}},
		{Name: "copy of the output", LeavesOut: "everything", Floor: true, Run: func() (any, error) {
			out = bytes.Clone(buf)
			return nil, nil
		}},
	}}, nil
}

// selected are the fields that selectFields asks for.
var selected = []string{"title", "slug"}

// selectFields writes 2 of the 10 fields of 25 todos, and finds by the request which ones.
func selectFields(context.Context) (Group, error) {
	list, err := todos(25)
	if err != nil {
		return Group{}, err
	}
	ours, err := encoder("list_todos", reflect.TypeFor[[]service.Todo]())
	if err != nil {
		return Group{}, err
	}
	masked, err := selecting("list_todos", reflect.TypeFor[[]service.Todo]())
	if err != nil {
		return Group{}, err
	}
	var value any = list
	theirs := &page{list}
	var buf, out []byte
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) {
			var err error
			if buf, err = masked(buf[:0], value); err != nil {
				return nil, err
			}
			out = bytes.Clone(buf)
			return &out, nil
		}},
		{Name: "aql-tag, all fields", LeavesOut: "the selection", Floor: true, Run: func() (any, error) {
			var err error
			if buf, err = ours(buf[:0], value); err != nil {
				return nil, err
			}
			out = bytes.Clone(buf)
			return &out, nil
		}},
		{Name: "encode, then filter", Run: func() (any, error) {
			var err error
			out, err = filtered[any](theirs)
			return &out, err
		}},
		{Name: "encode, then filter raw values", Run: func() (any, error) {
			var err error
			out, err = filtered[json.RawMessage](theirs)
			return &out, err
		}},
	}}, nil
}

// filtered encodes everything, reads it as maps with values of type V, and encodes the selected fields.
func filtered[V any](all *page) ([]byte, error) {
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Items []map[string]V `json:"items"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	for i, item := range whole.Items {
		fields := make(map[string]V, len(selected))
		for _, name := range selected {
			fields[name] = item[name]
		}
		whole.Items[i] = fields
	}
	return json.Marshal(whole)
}
