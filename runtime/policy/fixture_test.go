package policy_test

import (
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

var update = flag.Bool("update", false, "write golden files")

// todos returns the definitions that policies are bound to.
func todos() *gen.Definitions {
	id := gen.Param{Name: "todo_id", Type: "string", Required: true, ID: true}
	status := gen.Param{Name: "status", Type: "Status", Aliases: []string{"state"}}
	return &gen.Definitions{
		Operations: []gen.Operation{
			{Name: "create_todo", Category: gen.Create, Danger: gen.Reversible, Params: []gen.Param{
				{Name: "title", Type: "string", Required: true},
				{Name: "due_at", Type: "string", Format: "date-time"},
				{Name: "pinned", Type: "boolean"},
				{Name: "effort", Type: "number"},
				{Name: "tags", Type: "array", Items: &gen.Param{Type: "string"}},
				{Name: "labels", Type: "object", Items: &gen.Param{Type: "string"}},
				{Name: "steps", Type: "array", Items: &gen.Param{Type: "Step"}},
				{Name: "extra", Type: "any"},
				{Name: "password", Type: "string", Sensitive: true},
				{Name: "picture", Type: "string", Format: "byte"},
			}},
			{Name: "delete_todo", Category: gen.Delete, Danger: gen.Destructive, Params: []gen.Param{id}},
			{Name: "list_todos", Category: gen.Read, Danger: gen.Safe, Params: []gen.Param{
				{Name: "filter", Type: "Filter"},
				{Name: "limit", Type: "integer", Default: "25"},
				{Name: "fields", Type: gen.TypeSelection},
			}},
			{Name: "purge_completed", Category: gen.Delete, Danger: gen.Dangerous, Params: []gen.Param{
				{Name: "older_than_days", Type: "integer", Default: "0", Minimum: "0", Maximum: "3650"},
				{Name: "keep", Type: "integer"},
			}},
			{Name: "search_todos", Category: gen.Read, Danger: gen.Safe, Params: []gen.Param{
				{Name: "limit", Type: "string"},
				{Name: "query", Type: "string", Required: true},
			}},
			{Name: "update_todo", Category: gen.Update, Danger: gen.Reversible, Params: []gen.Param{
				id, {Name: "input", Type: "TodoPatch", Required: true},
			}},
		},
		Types: []gen.Type{
			{Name: "Filter", Kind: gen.KindObject, Fields: []gen.Param{
				status, {Name: "priority", Type: "string", Enum: []string{"low", "high"}, Default: `"low"`},
				{Name: "text", Type: "string"},
			}},
			{Name: "Status", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "open"}, {Value: "done"}}},
			{
				Name: "Step", Kind: gen.KindObject,
				Fields: []gen.Param{{Name: "minutes", Type: "integer"}, {Name: "secret", Type: "string", Sensitive: true}},
			},
			{Name: "Metadata", Kind: gen.KindObject, Fields: []gen.Param{{Name: "color", Type: "string"}}},
			{
				Name: "MetadataPatch", Kind: gen.KindObject, Changes: "Metadata",
				Fields: []gen.Param{{Name: "color", Type: "string"}},
			},
			{Name: "Todo", Kind: gen.KindObject, Fields: []gen.Param{status, {Name: "metadata", Type: "Metadata"}}},
			{Name: "TodoPatch", Kind: gen.KindObject, Changes: "Todo", Fields: []gen.Param{
				status, {Name: "effort", Type: "integer"}, {Name: "priority", Type: "string", Default: `"low"`},
				{Name: "metadata", Type: "MetadataPatch"},
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
	return parseNamed(t, "policy.yaml", text)
}

// parseNamed reads the policy in a file of the given name.
func parseNamed(t testing.TB, name, text string) *policy.Policy {
	t.Helper()
	p, err := policyfile.Parse(name, []byte(text))
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

func diff(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
