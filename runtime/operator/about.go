package operator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Bounds of what a list says of an item, before escapes.
const (
	mostAbout    = 3   // parameters
	longestAbout = 60  // of a name or a value, in bytes
	longestAsked = 160 // of a question, in bytes
)

// about says in a part of a line what an item is about: its most telling parameters, those that identify something
// first, or the question that has none.
func about(item *approve.Item) string {
	if item.Kind == approve.Enquiry || item.Kind == approve.Continuation {
		return asked(item)
	}
	type param struct {
		name, value string
		rank        int
	}
	var params []param
	for name, value := range members(item.Params) {
		params = append(params, param{name, brief(value), rank(item, name)})
	}
	if len(params) == 0 {
		return asked(item)
	}
	slices.SortStableFunc(params, func(a, b param) int { return cmp.Compare(a.rank, b.rank) })
	var parts []string
	for _, p := range params[:min(len(params), mostAbout)] {
		parts = append(parts, words.Printable(words.Excerpt(p.name, longestAbout))+" "+p.value)
	}
	if more := len(params) - mostAbout; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// asked is the question of an item in one line.
func asked(item *approve.Item) string {
	return words.Printable(words.Excerpt(strings.ReplaceAll(item.Message, "\n", " "), longestAsked))
}

// rank is lower for parameters that say more: what people type, what an agent says, and what identifies something.
func rank(item *approve.Item, name string) int {
	switch {
	case item.Typing.Param == name:
		return 0
	case strings.HasPrefix(name, "next_action"):
		return 1
	case name == "id", name == "ids", strings.HasSuffix(name, "_id"), strings.HasSuffix(name, "_ids"),
		name == "element_name":
		return 2
	}
	return 3
}

// brief returns a JSON value, and of a long one its ends.
func brief(value json.RawMessage) string {
	var text string
	if len(value) <= longestAbout || json.Unmarshal(value, &text) != nil {
		return words.PrintableJSON(words.Excerpt(string(value), longestAbout))
	}
	quoted, err := json.Marshal(words.Excerpt(text, longestAbout))
	if err != nil { // of a text, which it cannot be
		return ""
	}
	return words.PrintableJSON(string(quoted))
}

// errNotSelected is the error of a command for one item with flags that select several.
var errNotSelected = errors.New("-agent and -operation are for list and deny")

// check returns what is wrong with flags that select items.
func (f *Flags) check(words []string) error {
	if (f.Agent != "" || f.Operation != "") && words[0] != "list" && words[0] != "deny" {
		return errNotSelected
	}
	return nil
}

// selects reports whether the flags select an item: by its operation, and by the agent that asks, or that it is about.
func (f *Flags) selects(item *approve.Item) bool {
	return (f.Operation == "" || f.Operation == item.Operation) &&
		(f.Agent == "" || f.Agent == item.Agent || f.Agent == item.Caller.Subject || f.Agent == agentOf(item))
}

// agentOf returns the agent whose start or step an item of the safety loop is about; empty: it is about none.
func agentOf(item *approve.Item) string {
	var name string
	if item.Kind != approve.Step && item.Operation != gen.ExecuteAgent {
		return ""
	}
	for member, value := range members(item.Params) {
		if member == "element_name" && json.Unmarshal(value, &name) == nil {
			return name
		}
	}
	return ""
}
