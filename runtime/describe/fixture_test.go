package describe

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// todoAdapter is a small adapter in which everything that a definition can say occurs once.
func todoAdapter() *gen.Definitions {
	return &gen.Definitions{
		Name: "todo", Version: "1.2.3",
		Operations: []gen.Operation{
			{
				Name: "create_todo", Category: gen.Create, Description: "Adds a todo. The title may repeat.", Danger: gen.Safe,
				Params: []gen.Param{
					{Name: "title", Type: "string", Required: true, Description: "The thing to do", MinLength: 1, MaxLength: 200},
					{Name: "priority", Type: "Priority", Enum: []string{"low", "high"}, Default: `"low"`},
					{Name: "tags", Type: "array", MaxItems: 20, Items: &gen.Param{Type: "string", MaxLength: 30}},
					{Name: "labels", Type: "object", Description: "Free labels.", Items: &gen.Param{Type: "string"}},
					{Name: "estimate", Type: "integer", Minimum: "0", Maximum: "10000", Aliases: []string{"minutes"}},
				},
				Returns:  gen.Returns{Name: "Todo", Kind: gen.KindObject},
				Examples: []gen.Example{{Params: `{"title":"Buy milk & <tea>"}`, Description: "The shortest request"}},
			},
			{
				Name: "list_todos", Category: gen.Read, Description: "Lists todos", Danger: gen.Safe,
				Params:  []gen.Param{{Name: "fields", Type: "string | string[]"}, {Name: "where", Type: "Node"}},
				Returns: gen.Returns{Name: "TodoList", Kind: gen.KindObject, Description: "Todos"},
			},
			{
				Name: "update_todo", Category: gen.Update, Description: "Changes a todo.", Danger: gen.Reversible,
				Params: []gen.Param{
					{Name: "todo_id", Type: "string", Required: true, Pattern: "^[a-z0-9]+$", ID: true},
					{Name: "input", Type: "TodoPatch", Required: true},
				},
				Returns: gen.Returns{Name: "Todo", Kind: gen.KindObject},
			},
			{
				Name: "delete_todo", Category: gen.Delete, Family: "operate", Description: "Removes a todo",
				Danger: gen.Destructive, Reasons: []string{"Removes the todo", "Removes its history"},
				Params:  []gen.Param{{Name: "todo_id", Type: "string", Required: true}},
				Returns: gen.Returns{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)"},
			},
			{
				Name: "wipe", Category: gen.Execute, Description: "Wipes everything.", Danger: gen.Dangerous,
				Deprecated: "Too easy to hit.", Replacement: "delete_todo",
				Params: []gen.Param{{Name: "password", Type: "string", Required: true, Sensitive: true},
					{Name: "confirmation_token", Type: "any"}},
				Returns: gen.Returns{Name: "Anything", Kind: gen.KindUnion},
			},
		},
		Types: []gen.Type{
			{Name: "Priority", Kind: gen.KindEnum, Description: "How urgent",
				Values: []gen.EnumValue{{Value: "low"}, {Value: "high", Description: "today"}}},
			{Name: "Todo", Kind: gen.KindObject, Fields: []gen.Param{
				{Name: "todo_id", Type: "string", Required: true, ReadOnly: true},
				{Name: "due_at", Type: "string", Format: "date-time", Deprecated: "use deadline"},
				{Name: "log", Type: "array", Items: &gen.Param{Type: "array", Items: &gen.Param{Type: "Node"}}, MinItems: 1,
					AppendOnly: true},
			}},
			{Name: "TodoList", Kind: gen.KindObject,
				Fields: []gen.Param{{Name: "items", Type: "array", Required: true, Items: &gen.Param{Type: "Todo"}}}},
			{Name: "TodoPatch", Kind: gen.KindObject, Fields: []gen.Param{{Name: "title", Type: "string"}}},
			{Name: "Node", Kind: gen.KindObject,
				Fields: []gen.Param{{Name: "left", Type: "Node"}, {Name: "value", Type: "number", Default: "1.5"}}},
			{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)"},
			{Name: "Anything", Kind: gen.KindUnion, Members: []string{"Todo", "Nothing"}},
			{Name: "Empty", Kind: gen.KindObject},
		},
	}
}

// manyOperations is an adapter of n operations, spread over the categories.
func manyOperations(n int) *gen.Definitions {
	verbs := []string{"create", "get", "update", "delete", "run"}
	adapter := &gen.Definitions{Name: "many"}
	for i := range n {
		adapter.Operations = append(adapter.Operations, gen.Operation{
			Name: fmt.Sprintf("%s_invoice_%d", verbs[i%5], i), Category: gen.Categories()[i%5], Description: "Does something.",
			Params: []gen.Param{{Name: "invoice_id", Type: "string", Required: true}},
		})
	}
	return adapter
}

// randomAdapter makes an adapter whose parameters and types have any mixture of what a definition can say.
func randomAdapter(seed uint64) *gen.Definitions {
	r := rand.New(rand.NewPCG(seed, 1))
	coin := func() bool { return r.IntN(2) == 0 }
	var param func(name string, depth int) gen.Param
	param = func(name string, depth int) gen.Param {
		kinds := []string{
			"string", "integer", "number", "boolean", "object", "array", "any", "Choice", "Thing", "string | string[]",
		}
		p := gen.Param{
			Name: name, Type: kinds[r.IntN(len(kinds))], Required: coin(), Sensitive: coin(), ReadOnly: coin(),
			AppendOnly: coin(),
			MinItems:   r.IntN(3), MaxItems: r.IntN(4), MinLength: r.IntN(3), MaxLength: r.IntN(4),
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
	params := func() []gen.Param {
		var list []gen.Param
		for i := range r.IntN(6) {
			list = append(list, param(fmt.Sprintf("param_%d", i), 3))
		}
		return list
	}
	adapter := &gen.Definitions{Name: "random", Types: []gen.Type{
		{Name: "Choice", Kind: gen.KindEnum},
		{Name: "Thing", Kind: gen.KindObject, Fields: params()},
	}}
	for i := range r.IntN(8) {
		o := gen.Operation{
			Name: fmt.Sprintf("op_%d", i), Category: gen.Categories()[r.IntN(5)], Danger: gen.Dangers()[r.IntN(5)],
			Params:  params(),
			Returns: gen.Returns{Name: "Thing", Kind: gen.KindObject},
		}
		if coin() {
			o.Returns = gen.Returns{}
			o.Family, o.Reasons, o.Replacement = "operate", []string{"why not"}, "op_0"
			o.Examples = []gen.Example{{Params: `{}`}}
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
func gateDestructive(o *gen.Operation) Gating {
	if o.Danger.Level() >= gen.Destructive.Level() {
		return Confirmed
	}
	return Ungated
}

func introspect(t *testing.T, a *gen.Definitions, s Surface) *Introspection {
	t.Helper()
	in, err := Introspect(a, s, Protocol{Conformance: "level-1", Gate: gateDestructive})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
