package approve_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// parts are the 300 bytes at the beginning of a text and the 200 at its end, with what is left out between them.
func parts(text string, left int) string {
	return fmt.Sprintf("%s… (%d bytes left out) …%s", text[:300], left, text[len(text)-200:])
}

// Whatever an agent puts into one parameter, the person who decides sees the others.
func TestLongParametersHideNoOthers(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for name, tt := range map[string]struct {
		params string
		want   map[string]any // with the ID
	}{
		"short ones are as they were sent": {params: `"note":"<\u0041>","n":[1.0,{"a":"b"}]`, want: map[string]any{
			"note": "<A>", "n": []any{1.0, map[string]any{"a": "b"}},
		}},
		"a text":   {params: `"note":"` + long + `"`, want: map[string]any{"note": parts(long, 69_500)}},
		"the last": {params: `"note":"` + long[:500] + `"`, want: map[string]any{"note": long[:500]}},
		"a text of escapes": {
			params: `"note":"` + strings.Repeat(`\n`, 600) + `"`,
			want:   map[string]any{"note": parts(strings.Repeat("\n", 600), 100)},
		},
		"a character is not cut through": {
			params: `"note":"` + long[:299] + strings.Repeat("ä", 300) + `y"`,
			want: map[string]any{
				"note": long[:299] + "… (402 bytes left out) …" + strings.Repeat("ä", 99) + "y",
			},
		},
		"a list": {
			params: `"notes":["` + long + `"]`, want: map[string]any{"notes": parts(`["`+long+`"]`, 69_504)},
		},
		"an object": {
			params: `"notes":{"a":"` + long + `"}`,
			want:   map[string]any{"notes": parts(`{"a":"`+long+`"}`, 69_508)},
		},
		"a number": {
			params: `"n":` + strings.Repeat("1", 600),
			want:   map[string]any{"n": parts(strings.Repeat("1", 600), 100)},
		},
		"characters that JSON has escapes for": {
			params: `"note":"\u0000\u001b` + long + `"`,
			want:   map[string]any{"note": parts("\x00\x1b"+long, 69_502)},
		},
		"a name": {params: `"` + long + `":1`, want: map[string]any{parts(long, 69_500): 1.0}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want["id"] = "n1"
			for _, params := range []string{tt.params + `,"id":"n1"`, `"id":"n1",` + tt.params} {
				item := open(t, approve.New(new(store.Memory)), question(func(q *approve.Question) {
					q.Params = "{" + params + "}"
				}))
				var got map[string]any
				if err := json.Unmarshal([]byte(item.Params), &got); err != nil {
					t.Fatalf("%v: %s", err, item.Params)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// An item has so many parameters as a person can look at, and says how many there were.
func TestManyParameters(t *testing.T) {
	var params strings.Builder
	for i := range 300 {
		fmt.Fprintf(&params, `"p%d":1,`, i)
	}
	item := open(t, approve.New(new(store.Memory)), question(func(q *approve.Question) {
		q.Params = "{" + strings.TrimSuffix(params.String(), ",") + "}"
	}))
	var got map[string]any
	if err := json.Unmarshal([]byte(item.Params), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 201 || got["p199"] != 1.0 || got["…"] != "100 more parameters, which are too many to show" {
		t.Errorf("%s", item.Params)
	}
}

// What cannot be read is not left out in silence.
func TestUnreadableParameters(t *testing.T) {
	item := open(t, approve.New(new(store.Memory)), question(func(q *approve.Question) {
		q.Params = `{"id":"n1","note":` + strings.Repeat("x", 600)
	}))
	if want := `{"id":"n1","…":"more, which cannot be read, of 618 bytes"}`; item.Params != want {
		t.Errorf("got %s, want %s", item.Params, want)
	}
}
