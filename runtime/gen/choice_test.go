package gen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shelf and desk are receivers.
type (
	shelf struct{ name string }
	desk  struct{ name string }
)

// An operation has only those receivers chosen that it uses, one after the other, and once each.
func TestChoices(t *testing.T) {
	var chosen []string
	shelves := func(context.Context) (*shelf, error) {
		chosen = append(chosen, "shelf")
		return &shelf{"A"}, nil
	}
	desks := func(context.Context) (*desk, error) {
		chosen = append(chosen, "desk")
		return &desk{"B"}, nil
	}
	failing := func(context.Context) (*desk, error) { return nil, errors.New("no desk") }
	none := func(context.Context) (*desk, error) { return nil, nil }
	unknown := func(context.Context) (fmt.Stringer, error) { return nil, nil }
	for _, tt := range []struct {
		name      string
		receivers []int
		choices   []Choice
		want      []string
		chosen    []string
		err       string
	}{
		{
			name: "all", choices: []Choice{Choose(shelves), Choose(desks)}, want: []string{"*gen.shelf", "*gen.desk"},
			chosen: []string{"shelf", "desk"},
		},
		{
			name: "the second", receivers: []int{1}, choices: []Choice{Choose(shelves), Choose(desks)},
			want: []string{"<nil>", "*gen.desk"}, chosen: []string{"desk"},
		},
		{name: "none, as of a function", receivers: []int{}, choices: []Choice{Choose(shelves), Choose(desks)}},
		{
			name: "one that fails is not needed", receivers: []int{0}, choices: []Choice{Choose(shelves), Choose(failing)},
			want: []string{"*gen.shelf", "<nil>"}, chosen: []string{"shelf"},
		},
		{name: "one that fails", choices: []Choice{Choose(failing), Choose(shelves)}, err: "no desk"},
		{name: "nil", choices: []Choice{Choose(none)}, err: "choosing the *gen.desk of a call: the function returned nil"},
		{
			name: "nil of an interface", choices: []Choice{Choose(unknown)},
			err: "choosing the fmt.Stringer of a call: the function returned nil",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chosen = nil
			var got []string
			handler := Handler{
				Name: "get_thing", Category: Read, Danger: Safe, Request: (*struct{})(nil), Receivers: tt.receivers,
				Call: func(_ context.Context, receivers []any, _ any) (any, error) {
					for _, receiver := range receivers {
						got = append(got, fmt.Sprintf("%T", receiver))
					}
					return nil, nil
				},
			}
			r := NewRegistryFor([]Handler{handler}, nil, tt.choices...)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			_, err := Merge(r, NewRegistry(nil, nil)).Operations()[0].Call(t.Context(), nil)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err || got != nil {
					t.Errorf("%v, and the handler ran with %v", err, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]string{tt.want, tt.chosen}, [][]string{got, chosen}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A function that is missing is found when the adapter is made, and not at the first call.
func TestMissingChoice(t *testing.T) {
	shelves := func(context.Context) (*shelf, error) { return new(shelf), nil }
	var desks func(context.Context) (*desk, error)
	err := NewRegistryFor(nil, nil, Choose(shelves), Choose(desks)).Err()
	if err == nil || !strings.Contains(err.Error(), "argument 2 of NewRegistryFor is nil") {
		t.Error(err)
	}
}
