package console

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostOptions bounds the options of a filter: those that most items have.
const mostOptions = 50

// choice is a filter of the inbox.
type choice struct {
	Name, Label, All string
	Options          []option
}

// option is a value of a filter.
type option struct {
	Value, Label string
	Count        int
	Chosen       bool
}

// filters are the filters of the inbox: how each is called, and what an item has for it; empty: nothing.
var filters = [...]struct {
	name, label, all string
	of               func(*approve.Item) string
}{
	{"agent", "Agent or caller", "anybody", agent},
	{"operation", "Operation", "all", func(item *approve.Item) string { return item.Operation }},
	{"danger", "Danger", "any", danger},
}

// agent returns who wants something: an agent by its name, which it has chosen, otherwise its caller.
func agent(item *approve.Item) string {
	if item.Agent != "" {
		return words.Quote(item.Agent, longestLine, 0)
	}
	return desk.Name(item.Caller)
}

// danger returns the danger level of an item; empty: it has none, or is about more than one call.
func danger(item *approve.Item) string {
	if desk.Holds(item) || item.Kind == approve.Continuation || item.Danger.Level() < 0 {
		return ""
	}
	return string(item.Danger)
}

// filtered returns the filters with what can be chosen among all that waits, and the heads that match all that are
// chosen. Those it adds to the query.
func filtered(seen *look, chosen func(string) string, query url.Values) ([]choice, []*head) {
	var choices []choice
	var wanted [len(filters)]string
	for i, f := range filters {
		if wanted[i] = chosen(f.name); wanted[i] != "" {
			query.Set(f.name, wanted[i])
		}
		choices = append(choices, choice{f.name, f.label, f.all, options(seen.counts[i], wanted[i])})
	}
	if len(query) == 0 {
		return choices, seen.waiting
	}
	var matching []*head
	for _, h := range seen.waiting {
		if h.matches(&wanted) {
			matching = append(matching, h)
		}
	}
	return choices, matching
}

// matches reports whether a head has the values that are wanted; empty: any.
func (h *head) matches(wanted *[len(filters)]string) bool {
	for i, value := range wanted {
		if value != "" && h.of[i] != value {
			return false
		}
	}
	return true
}

// options returns the values of a filter that most items have, in order, and the one that is chosen.
func options(counts map[string]int, wanted string) []option {
	var all []option
	for value, count := range counts {
		all = append(all, option{value, words.Clip(value, longestShownParam), count, value == wanted})
	}
	if wanted != "" && counts[wanted] == 0 {
		all = append(all, option{wanted, words.Clip(wanted, longestShownParam), 0, true})
	}
	slices.SortFunc(all, func(x, y option) int {
		chosen := func(o option) int {
			if o.Chosen {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(chosen(x), chosen(y)), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Value, y.Value))
	})
	all = all[:min(len(all), mostOptions)]
	slices.SortFunc(all, func(x, y option) int {
		level := func(o option) int { return gen.Danger(o.Value).Level() }
		return cmp.Or(cmp.Compare(level(x), level(y)), cmp.Compare(x.Value, y.Value))
	})
	return all
}
