package aql_test

import (
	"context"
	"testing"
	"testing/synctest"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// packRequest says what to pack.
type packRequest struct {
	Label string
	Size  float64
	Boxes map[string]any
	Color string
	Key   string
}

func packOperation() gen.Handler {
	pack := longOperation("pack", gen.Lifecycle{Durable: true, Once: "key"},
		func(context.Context, []any, any, *aql.Run) (any, error) { return &built{}, nil })
	pack.Request = (*packRequest)(nil)
	pack.Params = []gen.Field{
		{Name: "label", Go: "Label", Type: "string", Required: true},
		{Name: "size", Go: "Size", Type: "number"},
		{Name: "boxes", Go: "Boxes", Type: "object"},
		{Name: "color", Go: "Color", Type: "string", Rules: gen.Rules{gen.Default(`"red"`)}},
		{Name: "key", Go: "Key", Type: "string"},
	}
	return pack
}

// A key starts one execution, of one request however that is spelled, and is no other's.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop"}, packOperation())
		defer s.stop()
		first := s.call("ann", "pack", `{"label":"x","size":10,"boxes":{"a":1,"b":2},"key":"k"}`)
		if !first.Success {
			t.Fatalf("%+v", first.Error)
		}
		for name, params := range map[string]string{
			"the same spelling":               `{"label":"x","size":10,"boxes":{"a":1,"b":2},"key":"k"}`,
			"another order":                   `{"key":"k","boxes":{"b":2,"a":1},"size":10,"label":"x"}`,
			"other escapes":                   `{"label":"\u0078","size":10,"boxes":{"\u0061":1,"b":2},"key":"\u006b"}`,
			"escapes in names":                `{"\u006cabel":"x","size":10,"boxes":{"a":1,"b":2},"key":"k"}`,
			"numbers written otherwise":       `{"label":"x","size":1.0e1,"boxes":{"a":1.0,"b":20e-1},"key":"k"}`,
			"white space":                     `{ "label" : "x", "size":10 , "boxes":{ "a" :1,"b":2 },"key":"k"}`,
			"a default that is given":         `{"label":"x","size":10,"boxes":{"a":1,"b":2},"color":"red","key":"k"}`,
			"a null where nothing was before": `{"label":"x","size":10,"boxes":{"a":1,"b":2},"color":null,"key":"k"}`,
		} {
			if again := s.call("ann", "pack", params); again.Data.ExecutionID != first.Data.ExecutionID {
				t.Errorf("%s: %+v", name, again)
			}
		}
		for name, params := range map[string]string{
			"another text":           `{"label":"y","size":10,"boxes":{"a":1,"b":2},"key":"k"}`,
			"another number":         `{"label":"x","size":10.000001,"boxes":{"a":1,"b":2},"key":"k"}`,
			"a member more":          `{"label":"x","size":10,"boxes":{"a":1,"b":2,"c":0},"key":"k"}`,
			"a parameter less":       `{"label":"x","size":10,"key":"k"}`,
			"another than a default": `{"label":"x","size":10,"boxes":{"a":1,"b":2},"color":"blue","key":"k"}`,
		} {
			other := s.call("ann", "pack", params)
			if other.Error.Code != "CONFLICT_ALREADY_EXISTS" ||
				other.Error.Details["execution_id"] != first.Data.ExecutionID {
				t.Errorf("%s: %+v", name, other)
			}
		}
		if bob := s.call("bob", "pack", `{"label":"x","size":10,"boxes":{"a":1,"b":2},"key":"k"}`); !bob.Success ||
			bob.Data.ExecutionID == first.Data.ExecutionID {
			t.Errorf("%+v", bob)
		}
	})
}
