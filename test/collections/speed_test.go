package collections_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
	"github.com/aqltag/aqltag/test/collections/parts"
)

func manyTasks(n int) []parts.Task {
	texts := reference.Texts
	r := rand.New(rand.NewPCG(1, 2))
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := make([]parts.Task, n)
	for i := range all {
		t := &all[i]
		t.TaskID = fmt.Sprintf("todo_%08x%06x", r.Uint32(), i)
		t.Title = texts[r.IntN(len(texts))] + " " + texts[r.IntN(len(texts))] + " " + fmt.Sprint(r.IntN(1000))
		t.Priority = []string{"low", "medium", "high"}[r.IntN(3)]
		t.Status = []string{"open", "done"}[r.IntN(2)]
		if r.IntN(3) > 0 {
			due := base.Add(time.Duration(r.IntN(500)) * time.Hour)
			t.DueAt = &due
		}
		for range r.IntN(4) {
			t.Tags = append(t.Tags, texts[r.IntN(len(texts))])
		}
		t.Minutes = r.IntN(300)
		t.CreatedAt = base.Add(time.Duration(r.IntN(1_000_000)) * time.Second)
	}
	return all
}

// byHand is what a careful author writes: pointers are sorted, and not structs.
func byHand(all []parts.Task, wanted func(t *parts.Task) bool, order func(a, b *parts.Task) int) []*parts.Task {
	var found []*parts.Task
	for i := range all {
		if wanted(&all[i]) {
			found = append(found, &all[i])
		}
	}
	slices.SortFunc(found, order)
	return found[:min(25, len(found))]
}

// BenchmarkPage compares a page of 25 of 100,000 elements with one that is written by hand.
func BenchmarkPage(b *testing.B) {
	tasks := &parts.Tasks{All: manyTasks(100_000)}
	for i := range tasks.All {
		tasks.Pointers = append(tasks.Pointers, &tasks.All[i])
	}
	adapter, err := aql.New(parts.NewRegistry(&parts.Store{}, tasks), aql.Options{Name: "tasks", Version: "1"})
	if err != nil {
		b.Fatal(err)
	}
	s := adapter.NewSession()
	limit := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	newest := func(a, b *parts.Task) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.TaskID, a.TaskID))
	}
	for _, tt := range []struct {
		name, params string
		wanted       func(t *parts.Task) bool
		order        func(a, b *parts.Task) int
	}{
		{
			"conditions", `"filter":{"status":"open","priority":{"in":["medium","high"]},"minutes":{"gte":60}}`,
			func(t *parts.Task) bool {
				return t.Status == "open" && (t.Priority == "medium" || t.Priority == "high") && t.Minutes >= 60
			}, newest,
		},
		{"all", `"filter":{}`, func(*parts.Task) bool { return true }, newest},
		{
			"contains", `"filter":{"title":{"contains":"MILK"},"due_at":{"lt":"2026-01-10T00:00:00Z"}},"sort":{"field":"title"}`,
			func(t *parts.Task) bool {
				return strings.Contains(strings.ToLower(t.Title), "milk") && t.DueAt != nil && t.DueAt.Before(limit)
			},
			func(a, b *parts.Task) int {
				return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.TaskID, b.TaskID))
			},
		},
		{
			"alternatives",
			`"filter":{"_or":[{"status":"open","priority":"high"},{"minutes":{"lt":30}}],"_not":{"tags":"milk"}},` +
				`"sort":{"field":"minutes"}`,
			func(t *parts.Task) bool {
				return (t.Status == "open" && t.Priority == "high" || t.Minutes < 30) && !slices.Contains(t.Tags, "milk")
			},
			func(a, b *parts.Task) int {
				return cmp.Or(cmp.Compare(a.Minutes, b.Minutes), cmp.Compare(a.TaskID, b.TaskID))
			},
		},
	} {
		b.Run(tt.name+"/by hand", func(b *testing.B) {
			for b.Loop() {
				byHand(tasks.All, tt.wanted, tt.order)
			}
		})
		for _, from := range []string{"slice", "pointers", "stream"} {
			request := fmt.Appendf(nil, `{"operation":"list_tasks","params":{"from":%q,%s}}`, from, tt.params)
			b.Run(tt.name+"/"+from, func(b *testing.B) {
				for b.Loop() {
					s.Call(b.Context(), "mcp_aql_read", request)
				}
			})
		}
	}
}
