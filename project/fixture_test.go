package project

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aqltag/aqltag/model"
)

// todoAdapter is a small adapter in which everything that a definition can say occurs once.
func todoAdapter() *model.Adapter {
	return &model.Adapter{
		Name: "todo", Version: "1.2.3",
		Operations: []model.Operation{
			{
				Name: "create_todo", Category: model.Create, Description: "Adds a todo. The title may repeat.", Danger: model.Safe,
				Params: []model.Param{
					{Name: "title", Type: "string", Required: true, Description: "The thing to do", MinLength: 1, MaxLength: 200},
					{Name: "priority", Type: "Priority", Enum: []string{"low", "high"}, Default: `"low"`},
					{Name: "tags", Type: "array", MaxItems: 20, Items: &model.Param{Type: "string", MaxLength: 30}},
					{Name: "labels", Type: "object", Description: "Free labels.", Items: &model.Param{Type: "string"}},
					{Name: "estimate", Type: "integer", Minimum: "0", Maximum: "10000", Aliases: []string{"minutes"}},
				},
				Returns:  model.Returns{Name: "Todo", Kind: model.KindObject},
				Examples: []model.Example{{Params: `{"title":"Buy milk & <tea>"}`, Description: "The shortest request"}},
			},
			{
				Name: "list_todos", Category: model.Read, Description: "Lists todos", Danger: model.Safe,
				Params:  []model.Param{{Name: "fields", Type: "string | string[]"}, {Name: "where", Type: "Node"}},
				Returns: model.Returns{Name: "TodoList", Kind: model.KindObject, Description: "Todos"},
			},
			{
				Name: "update_todo", Category: model.Update, Description: "Changes a todo.", Danger: model.Reversible,
				Params: []model.Param{
					{Name: "todo_id", Type: "string", Required: true, Pattern: "^[a-z0-9]+$", ID: true},
					{Name: "input", Type: "TodoPatch", Required: true},
				},
				Returns: model.Returns{Name: "Todo", Kind: model.KindObject},
			},
			{
				Name: "delete_todo", Category: model.Delete, Family: "operate", Description: "Removes a todo", Danger: model.Destructive,
				Reasons: []string{"Removes the todo", "Removes its history"},
				Params:  []model.Param{{Name: "todo_id", Type: "string", Required: true}},
				Returns: model.Returns{Name: "Nothing", Kind: model.KindScalar, Description: "No data (null)"},
			},
			{
				Name: "wipe", Category: model.Execute, Description: "Wipes everything.", Danger: model.Dangerous,
				Deprecated: "Too easy to hit.", Replacement: "delete_todo",
				Params:  []model.Param{{Name: "password", Type: "string", Required: true, Sensitive: true}, {Name: "confirmation_token", Type: "any"}},
				Returns: model.Returns{Name: "Anything", Kind: model.KindUnion},
			},
		},
		Types: []model.Type{
			{Name: "Priority", Kind: model.KindEnum, Description: "How urgent", Values: []model.EnumValue{{Value: "low"}, {Value: "high", Description: "today"}}},
			{Name: "Todo", Kind: model.KindObject, Fields: []model.Param{
				{Name: "todo_id", Type: "string", Required: true, ReadOnly: true},
				{Name: "due_at", Type: "string", Format: "date-time", Deprecated: "use deadline"},
				{Name: "log", Type: "array", Items: &model.Param{Type: "array", Items: &model.Param{Type: "Node"}}, MinItems: 1, AppendOnly: true},
			}},
			{Name: "TodoList", Kind: model.KindObject, Fields: []model.Param{{Name: "items", Type: "array", Required: true, Items: &model.Param{Type: "Todo"}}}},
			{Name: "TodoPatch", Kind: model.KindObject, Fields: []model.Param{{Name: "title", Type: "string"}}},
			{Name: "Node", Kind: model.KindObject, Fields: []model.Param{{Name: "left", Type: "Node"}, {Name: "value", Type: "number", Default: "1.5"}}},
			{Name: "Nothing", Kind: model.KindScalar, Description: "No data (null)"},
			{Name: "Anything", Kind: model.KindUnion, Members: []string{"Todo", "Nothing"}},
			{Name: "Empty", Kind: model.KindObject},
		},
	}
}

// manyOperations is an adapter of n operations, spread over the categories.
func manyOperations(n int) *model.Adapter {
	verbs := []string{"create", "get", "update", "delete", "run"}
	adapter := &model.Adapter{Name: "many"}
	for i := range n {
		adapter.Operations = append(adapter.Operations, model.Operation{
			Name: fmt.Sprintf("%s_invoice_%d", verbs[i%5], i), Category: model.Categories()[i%5], Description: "Does something.",
			Params: []model.Param{{Name: "invoice_id", Type: "string", Required: true}},
		})
	}
	return adapter
}

// randomAdapter makes an adapter whose parameters and types have any mixture of what a definition can say.
func randomAdapter(seed uint64) *model.Adapter {
	r := rand.New(rand.NewPCG(seed, 1))
	coin := func() bool { return r.IntN(2) == 0 }
	var param func(name string, depth int) model.Param
	param = func(name string, depth int) model.Param {
		kinds := []string{"string", "integer", "number", "boolean", "object", "array", "any", "Choice", "Thing", "string | string[]"}
		p := model.Param{
			Name: name, Type: kinds[r.IntN(len(kinds))], Required: coin(), Sensitive: coin(), ReadOnly: coin(), AppendOnly: coin(),
			MinItems: r.IntN(3), MaxItems: r.IntN(4), MinLength: r.IntN(3), MaxLength: r.IntN(4),
		}
		if coin() {
			p.Description = "Some \"text\" with <markup> & ünïcode"
			p.Minimum, p.Maximum = "-1e2", "12345678901234567890"
			p.Default, p.Pattern, p.Format = `{"a":[1,null]}`, "^[a-z]+$", "uuid"
			p.Enum, p.Aliases, p.Deprecated = []string{"", "x"}, []string{"old"}, "gone soon"
		}
		if depth > 0 && (p.Type == "array" || p.Type == "object") {
			items := param("", depth-1)
			p.Items = &items
		}
		return p
	}
	params := func() []model.Param {
		var list []model.Param
		for i := range r.IntN(6) {
			list = append(list, param(fmt.Sprintf("param_%d", i), 3))
		}
		return list
	}
	adapter := &model.Adapter{Name: "random", Types: []model.Type{
		{Name: "Choice", Kind: model.KindEnum},
		{Name: "Thing", Kind: model.KindObject, Fields: params()},
	}}
	for i := range r.IntN(8) {
		o := model.Operation{
			Name: fmt.Sprintf("op_%d", i), Category: model.Categories()[r.IntN(5)], Danger: model.Dangers()[r.IntN(5)], Params: params(),
			Returns: model.Returns{Name: "Thing", Kind: model.KindObject},
		}
		if coin() {
			o.Returns = model.Returns{}
			o.Family, o.Reasons, o.Replacement = "operate", []string{"why not"}, "op_0"
			o.Examples = []model.Example{{Params: `{}`}}
		}
		adapter.Operations = append(adapter.Operations, o)
	}
	return adapter
}

// surfaceOf makes a surface of a shipped profile.
func surfaceOf(t *testing.T, mode Mode, profile string) Surface {
	t.Helper()
	p, err := FindProfile(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Surface{Mode: mode, Profile: p}
}

// everySurface lists every mode with every shipped profile, with get_manifest and without.
func everySurface(t *testing.T) map[string]Surface {
	surfaces := make(map[string]Surface)
	for _, mode := range []Mode{Semantic, Single, All} {
		for _, profile := range Profiles() {
			s := surfaceOf(t, mode, profile.Name)
			surfaces[string(mode)+"/"+profile.Name] = s
			s.GetManifest = true
			surfaces[string(mode)+"/"+profile.Name+"/manifest"] = s
		}
	}
	return surfaces
}

// gateDestructive asks before everything destructive, as the runtime does.
func gateDestructive(o *model.Operation) Gating {
	if o.Danger.Level() >= model.Destructive.Level() {
		return Confirmed
	}
	return Ungated
}

func introspect(t *testing.T, a *model.Adapter, s Surface) *Introspection {
	t.Helper()
	in, err := Introspect(a, s, Protocol{Conformance: "level-1", Gate: gateDestructive})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
