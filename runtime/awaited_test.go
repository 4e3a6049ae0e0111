package aql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// waitFor is a handler that waits for an answer of a type.
func waitFor[T any](ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
	answer, err := aql.Wait[T](ctx, run, "n")
	if err != nil {
		return nil, err
	}
	return &built{[]string{fmt.Sprintf("%v", answer)}}, nil
}

// An answer is read as a parameter of its type is: one that does not fit is refused when it is given, or else the
// execution goes on to wait and says why. It does not end because of it.
func TestAnswersOfTypes(t *testing.T) {
	type depth struct {
		Depth int `json:"depth"`
	}
	for _, tt := range []struct {
		name    string
		handler aql.RunFunc
		value   string
		code    string // of the refusal
		message string // of the wait that goes on
		want    string // result
	}{
		{"an integer", waitFor[int], `3`, "", "", "3"},
		{"an integer with a fraction of zero", waitFor[int], `3.0`, "", "", "3"},
		{"an integer with an exponent", waitFor[int], `3e2`, "", "", "300"},
		{"a fraction", waitFor[int], `3.5`, "VALIDATION_INVALID_TYPE", "", ""},
		{"a text", waitFor[int], `"3"`, "VALIDATION_INVALID_TYPE", "", ""},
		{"null", waitFor[int], `null`, "VALIDATION_INVALID_TYPE", "", ""},
		{"an integer that is too large", waitFor[int8], `300`, "VALIDATION_OUT_OF_RANGE", "", ""},
		{"an integer that no type can have", waitFor[int64], `1e30`, "VALIDATION_OUT_OF_RANGE", "", ""},
		{"a negative one", waitFor[uint], `-1`, "VALIDATION_OUT_OF_RANGE", "", ""},
		{"a large one", waitFor[uint64], `18446744073709551615`, "", "", "18446744073709551615"},
		{"a number", waitFor[float64], `3`, "", "", "3"},
		{"a number that is too large", waitFor[float32], `1e39`, "VALIDATION_OUT_OF_RANGE", "", ""},
		{"an integer in an object", waitFor[depth], `{"depth":3.0}`, "", "", "{3}"},
		{"a text in an object", waitFor[depth], `{"depth":"deep"}`, "", "'depth' cannot be this string", ""},
		{"a member that the object does not have", waitFor[depth], `{"dept":3}`, "", "it cannot have 'dept'", ""},
		{"one in a list", waitFor[[]depth], `[{"depth":3.0,"unit":"m"}]`, "", "it cannot have 'unit'", ""},
		{"any member in a map", waitFor[map[string]int], `{"dept":3}`, "", "", "map[dept:3]"},
		{"a fraction in a list", waitFor[[]int], `[1,2.5]`, "", "does not fit", ""},
		{"a type that reads itself", waitFor[time.Time], `"soon"`, "", "does not fit", ""},
	} {
		for _, l := range []gen.Lifecycle{{Durable: true, Asks: true}, {Asks: true}} {
			t.Run(fmt.Sprintf("%s, durable %v", tt.name, l.Durable), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newShop(t, aql.Options{Name: "shop", Executions: rarely}, longOperation("build", l, tt.handler))
					defer s.stop()
					id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
					synctest.Wait()
					got := s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"n","value":`+tt.value+`}`)
					if got.Error.Code != tt.code {
						t.Fatalf("refused with %+v, want %s", got.Error, tt.code)
					}
					time.Sleep(time.Second)
					if tt.want != "" {
						ended := s.end("ann", id)
						if ended.Data.Result == nil || strings.Join(ended.Data.Result.Parts, "") != tt.want {
							t.Errorf("%+v, want the result %s", ended.Data, tt.want)
						}
						return
					}
					now := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
					message, _ := now.Data.WaitsFor["message"].(string)
					if now.Data.Status != "paused" || now.Data.WaitsFor["name"] != "n" || !strings.Contains(message, tt.message) {
						t.Errorf("%+v; want it to wait on, with the message %q", now.Data, tt.message)
					}
					if strings.Contains(message, "Go") || strings.Contains(message, "aql") {
						t.Errorf("the message %q tells of Go", message)
					}
				})
			})
		}
	}
}

// A handler that takes no answer but some of them asks again by another name, which its caller sees.
func TestAskingAgainByAnotherName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Executions: rarely},
			longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
				func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
					name := "color"
					for n := 2; ; n++ {
						color, err := aql.Wait[string](ctx, run, name)
						if err != nil || color == "red" {
							return &built{[]string{color}}, err
						}
						name = fmt.Sprintf("color %d: red", n)
					}
				}))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		for _, tt := range []struct{ name, answer string }{
			{"color", "blue"}, {"color 2: red", "green"}, {"color 3: red", "red"},
		} {
			synctest.Wait()
			now := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
			if now.Data.WaitsFor["name"] != tt.name {
				t.Fatalf("it waits for %v, want %s", now.Data.WaitsFor, tt.name)
			}
			s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"`+tt.name+`","value":"`+tt.answer+`"}`)
			time.Sleep(time.Second)
		}
		if ended := s.end("ann", id); ended.Data.Result == nil || ended.Data.Result.Parts[0] != "red" {
			t.Errorf("%+v", ended.Data)
		}
	})
}
