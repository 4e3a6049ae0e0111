package aql

import (
	"context"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// An answer near the budget names what makes it smaller, one beyond it is refused, and one that may have changed
// something is given whole.
func TestAnswerBudget(t *testing.T) {
	ran := 0
	text := func(size int) noteHandler {
		return func(context.Context, *noteRequest) (string, error) {
			ran++
			return strings.Repeat("x", size), nil
		}
	}
	first := gen.Field{Name: "first", Go: "Limit", Type: "integer"}
	registry := gen.NewRegistry([]gen.Handler{
		noteOperation("get_small", gen.Read, gen.Safe, text(500), first),
		noteOperation("get_large", gen.Read, gen.Safe, text(1800), first),
		noteOperation("get_plain", gen.Read, gen.Safe, text(1800)),
		noteOperation("get_huge", gen.Read, gen.Safe, text(3000), first),
		noteOperation("move_huge", gen.Execute, gen.Reversible, text(3000), first),
	}, noteTypes)
	adapter, err := New(registry, Options{Mode: ModeSingle, AnswerBudget: 2 * kib})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, request, want, not string }{
		{"far from it", `{"operation":"get_small"}`, `{"success":true`, "warnings"},
		{"near it", `{"operation":"get_large"}`,
			`{"code":"PERFORMANCE_LARGE_RESPONSE_WARNING","message":"The answer takes 1825 of 2048 bytes; ask for less with ` +
				`'first'","severity":"medium","details":{"actual_value":1825,"limit_value":2048,"smaller_with":["first"],` +
				`"unit":"bytes"}}`, "success\":false"},
		{"near it, without such parameters", `{"operation":"get_plain"}`, `The answer takes 1825 of 2048 bytes"`,
			"ask for less"},
		{"beyond it", `{"operation":"get_huge"}`,
			`{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE","message":"Payload exceeds response_size limit ` +
				`of 2048; ask for less with 'first'"`, "xxx"},
		{"what was done is told", `{"operation":"move_huge"}`, `{"success":true`, "warnings"},
		{"a batch", `{"operations":[{"operation":"move_huge"},{"operation":"get_small"}]}`,
			`{"index":1,"operation":"get_small","result":{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE"`,
			`"index":0,"operation":"move_huge","result":{"success":false`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(adapter.NewSession().Call(context.Background(), "mcp_aql", []byte(tt.request)).JSON)
			if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
				t.Errorf("got %s, want %s and not %s", got, tt.want, tt.not)
			}
		})
	}
	if ran != 7 {
		t.Errorf("%d handlers ran", ran)
	}
	if _, err := New(registry, Options{AnswerBudget: 100}); err == nil || !strings.Contains(err.Error(), "AnswerBudget") {
		t.Errorf("a budget of 100 bytes: %v", err)
	}
}
