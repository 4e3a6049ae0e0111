package propose_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/propose"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// Finding B4: functions are chosen before they are tried and judged. What is chosen has the name that it has among all,
// what is not is not mentioned, and an update does not merge through a function that is not chosen.
func TestChosenFunctions(t *testing.T) {
	dir := scantest.Write(t, `-- shop.go --
package shop

type Item struct{ ID, Name string }

type Items struct{}

// Get reads an item.
func (Items) Get(id string) (Item, error) { return Item{}, nil }

// Update changes an item.
func (Items) Update(id string, item Item) (Item, error) { return item, nil }

// Each visits the items.
func (Items) Each(do func(Item)) error { return nil }

type Users struct{}

// Get reads a user.
func (Users) Get(id string) (Item, error) { return Item{}, nil }
`)
	chosen := func(pattern string) map[string][]string {
		t.Helper()
		only := regexp.MustCompile(pattern)
		p, err := propose.Operations(context.Background(),
			scan.Options{Dir: dir, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}},
			func(operation, function string) bool {
				return only.MatchString(operation) || only.MatchString(function)
			})
		if err != nil {
			t.Fatal(err)
		}
		all := make(map[string][]string)
		for _, c := range p.Packages[0].Candidates {
			all[c.Operation] = c.Directives
		}
		for _, r := range p.Packages[0].Rejected {
			all[r.Function] = nil
		}
		return all
	}
	const (
		getItem = "//aql:op op=get_item,category=READ,danger=safe"
		getUser = "//aql:op op=get_user,category=READ,danger=safe"
		merging = "//aql:op op=update_item,category=UPDATE,danger=reversible,ids=id"
		whole   = "//aql:op op=update_item,category=UPDATE,danger=destructive,ids=id"
	)
	tests := map[string]struct {
		pattern string
		want    map[string][]string
	}{
		"all": {".", map[string][]string{
			"get_item": {getItem}, "get_user": {getUser},
			"update_item": {whole}, "Items.Each": nil, // there are two that could read it
		}},
		"a type": {`^Items\.`, map[string][]string{
			"get_item": {getItem}, "update_item": {merging, "//aql:update get=Get"}, "Items.Each": nil,
		}},
		"an operation":                 {"^get_user$", map[string][]string{"get_user": {getUser}}},
		"an update without its getter": {"^update_", map[string][]string{"update_item": {whole}}},
		"what cannot be an operation":  {"Each", map[string][]string{"Items.Each": nil}},
		"nothing":                      {"^none$", map[string][]string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, chosen(tt.pattern)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
