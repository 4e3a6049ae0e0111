package policy_test

import (
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
)

var update = flag.Bool("update", false, "write golden files")

// todos is the adapter that policies are held against.
func todos() *model.Adapter {
	id := model.Param{Name: "todo_id", Type: "string", Required: true, ID: true}
	status := model.Param{Name: "status", Type: "Status", Aliases: []string{"state"}}
	return &model.Adapter{
		Operations: []model.Operation{
			{Name: "create_todo", Category: model.Create, Danger: model.Reversible, Params: []model.Param{
				{Name: "title", Type: "string", Required: true},
				{Name: "due_at", Type: "string", Format: "date-time"},
				{Name: "pinned", Type: "boolean"},
				{Name: "effort", Type: "number"},
				{Name: "tags", Type: "array", Items: &model.Param{Type: "string"}},
				{Name: "labels", Type: "object", Items: &model.Param{Type: "string"}},
				{Name: "steps", Type: "array", Items: &model.Param{Type: "Step"}},
				{Name: "extra", Type: "any"},
				{Name: "password", Type: "string", Sensitive: true},
				{Name: "picture", Type: "string", Format: "byte"},
			}},
			{Name: "delete_todo", Category: model.Delete, Danger: model.Destructive, Params: []model.Param{id}},
			{Name: "list_todos", Category: model.Read, Danger: model.Safe, Params: []model.Param{
				{Name: "filter", Type: "Filter"},
				{Name: "limit", Type: "integer", Default: "25"},
				{Name: "fields", Type: model.TypeSelection},
			}},
			{Name: "purge_completed", Category: model.Delete, Danger: model.Dangerous, Params: []model.Param{
				{Name: "older_than_days", Type: "integer", Default: "0", Minimum: "0", Maximum: "3650"},
				{Name: "keep", Type: "integer"},
			}},
			{Name: "search_todos", Category: model.Read, Danger: model.Safe, Params: []model.Param{
				{Name: "limit", Type: "string"},
				{Name: "query", Type: "string", Required: true},
			}},
			{Name: "update_todo", Category: model.Update, Danger: model.Reversible, Params: []model.Param{
				id, {Name: "input", Type: "TodoPatch", Required: true},
			}},
		},
		Types: []model.Type{
			{Name: "Filter", Kind: model.KindObject, Fields: []model.Param{
				status, {Name: "priority", Type: "string", Enum: []string{"low", "high"}, Default: `"low"`}, {Name: "text", Type: "string"},
			}},
			{Name: "Status", Kind: model.KindEnum, Values: []model.EnumValue{{Value: "open"}, {Value: "done"}}},
			{Name: "Step", Kind: model.KindObject, Fields: []model.Param{{Name: "minutes", Type: "integer"}, {Name: "secret", Type: "string", Sensitive: true}}},
			{Name: "Metadata", Kind: model.KindObject, Fields: []model.Param{{Name: "color", Type: "string"}}},
			{Name: "MetadataPatch", Kind: model.KindObject, Changes: "Metadata", Fields: []model.Param{{Name: "color", Type: "string"}}},
			{Name: "Todo", Kind: model.KindObject, Fields: []model.Param{status, {Name: "metadata", Type: "Metadata"}}},
			{Name: "TodoPatch", Kind: model.KindObject, Changes: "Todo", Fields: []model.Param{
				status, {Name: "effort", Type: "integer"}, {Name: "priority", Type: "string", Default: `"low"`}, {Name: "metadata", Type: "MetadataPatch"},
			}},
		},
	}
}

// bind holds a policy of the given rules against the todos.
func bind(t testing.TB, p policy.Policy) *policy.Bound {
	t.Helper()
	bound, err := p.Bind(todos())
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// parse reads a policy in which nothing is wrong.
func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// params makes the values of a request from a JSON object, without defaults.
func params(t testing.TB, text string) func(string) (string, bool) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatal(err)
	}
	return func(name string) (string, bool) {
		value, ok := members[name]
		return string(value), ok
	}
}

func caller(subject string, scopes ...string) identity.Caller {
	return identity.Caller{Subject: subject, Issuer: "https://issuer.example", Scopes: scopes}
}

// written ignores where a policy stands in its file.
var written = cmpopts.IgnoreUnexported(policy.Policy{})

func diff(t *testing.T, want, got any, options ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, options...); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
