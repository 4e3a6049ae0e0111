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
	"github.com/aqltag/aqltag/runtime/internal/desk"
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
	for name, value := range desk.Members(item.Params) {
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

// What is wrong with flags.
var (
	errMisplaced = errors.New("this flag is for other commands")
	errMany      = errors.New("-first and -last are 1 to 1000")
)

// check returns what is wrong with the flags of a command: those of others, and numbers that are too large.
func (f *Flags) check(words []string) error {
	for _, flag := range []struct {
		name  string
		given bool
		of    []string
	}{
		{"agent", f.Agent != "", []string{"list", "deny"}},
		{"operation", f.Operation != "", []string{"list", "deny", "executions", "audit"}},
		{"status", f.Status != "", []string{"executions"}},
		{"first", f.First != 0 && f.First != standardListed, []string{"executions"}},
		{"after", f.After != "", []string{"executions"}},
		{"event", f.Event != "", []string{"audit"}},
		{"caller", f.Caller != "", []string{"audit", "quotas"}},
		{"issuer", f.Issuer != "", []string{"quotas", "logout"}},
		{"last", f.Last != 0 && f.Last != standardLast, []string{"audit"}},
		{"follow", f.Follow, []string{"audit"}},
	} {
		if flag.given && !slices.Contains(flag.of, words[0]) {
			return fmt.Errorf("-%s: %w: %s", flag.name, errMisplaced, strings.Join(flag.of, ", "))
		}
	}
	if f.First < 0 || f.First > mostListed || f.Last < 0 || f.Last > mostListed {
		return errMany
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
	for member, value := range desk.Members(item.Params) {
		if member == "element_name" && json.Unmarshal(value, &name) == nil {
			return name
		}
	}
	return ""
}
