package aql

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/google/go-cmp/cmp"
)

// client has a field that policies hide, in every place in which a result can have one.
type client struct {
	Name    string
	Email   string
	Parent  *client
	Friends []client
	ByRole  map[string]*client
	Pairs   [2]*client
	Home    Optional[home]
	Address postal
}

type home struct{ Owner *client }

type postal struct{ City, Email string }

type clientPage struct {
	Items []client
	Total int
}

type clientRequest struct {
	ID      string
	Address postal
	Fields
}

func hidingHandlers() []gen.Handler {
	fields := []gen.Field{
		{Name: "id", Go: "ID", Type: "string"},
		{Name: "fields", Go: "Fields.Select", Type: gen.TypeSelection,
			Rules: gen.Rules{gen.Presets{"minimal", "standard", "full"}}},
	}
	read := func(name string, result any, returns string, value func() any) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Read, Danger: gen.Safe, Description: "Reads.", Returns: returns, Params: fields,
			Request: (*clientRequest)(nil), Result: result,
			Call: func(context.Context, []any, any) (any, error) { return value(), nil },
		}
	}
	move := read("move_client", (*postal)(nil), "Address", func() any { return postal{"Ulm", "a@ulm"} })
	move.Category, move.Danger = gen.Update, gen.Reversible
	move.Params = []gen.Field{{Name: "address", Go: "Address", Type: "Address"}}
	name := read("name_client", (*string)(nil), "Text", func() any { return "Ann" })
	name.Params = nil
	return []gen.Handler{
		read("get_client", (**client)(nil), "Client", func() any { return newClient(3) }),
		read("list_clients", (*[]client)(nil), "ClientList", func() any { return []client{*newClient(2), *newClient(1)} }),
		read("page_clients", (*clientPage)(nil), "ClientPage", func() any { return clientPage{[]client{*newClient(1)}, 1} }),
		move, name,
	}
}

func newClient(levels int) *client {
	c := &client{Name: "Ann", Email: "secret", Address: postal{"Ulm", "address"}}
	if levels > 0 {
		inner := newClient(levels - 1)
		c.Parent, c.Friends, c.ByRole = inner, []client{*inner}, map[string]*client{"boss": inner, "none": nil}
		c.Pairs, c.Home = [2]*client{inner}, Some(home{inner})
	}
	return c
}

var hidingTypes = []gen.WireType{
	{Name: "Client", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "name", Go: "Name", Type: "string", Required: true, Rules: gen.Rules{gen.Presets{"minimal"}}},
		{Name: "email", Go: "Email", Type: "string", Required: true, Rules: gen.Rules{gen.Presets{"minimal"}}},
		{Name: "parent", Go: "Parent", Type: "Client", Nullable: true},
		{Name: "friends", Go: "Friends", Type: "array", Items: &gen.Field{Type: "Client"}},
		{Name: "by_role", Go: "ByRole", Type: "object", Items: &gen.Field{Type: "Client", Nullable: true}},
		{Name: "pairs", Go: "Pairs", Type: "array", Items: &gen.Field{Type: "Client", Nullable: true}},
		{Name: "home", Go: "Home", Type: "Home", Nullable: true, OmitZero: true},
		{Name: "address", Go: "Address", Type: "Address"},
	}},
	{Name: "Home", Kind: gen.KindObject, Fields: []gen.Field{{Name: "owner", Go: "Owner", Type: "Client"}}},
	{Name: "Address", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "city", Go: "City", Type: "string", Required: true},
		{Name: "email", Go: "Email", Type: "string", Required: true, Description: "Where bills go"},
	}},
	{Name: "ClientList", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "items", Type: "array", Items: &gen.Field{Type: "Client"}, Required: true},
	}},
	{Name: "ClientPage", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "items", Go: "Items", Type: "array", Items: &gen.Field{Type: "Client"}},
		{Name: "total", Go: "Total", Type: "integer"},
	}},
	{Name: "Text", Kind: gen.KindScalar},
}

func hiding(t *testing.T, rules string, options Options) (call func(caller, request string) string) {
	t.Helper()
	options.Name, options.Mode = "clients", ModeSingle
	if rules != "" {
		options.Policy = parsePolicy(t, "version: 1\nrules:\n"+rules)
	}
	adapter, err := New(gen.NewRegistry(hidingHandlers(), hidingTypes), options)
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	return func(caller, request string) string {
		ctx := WithCaller(t.Context(), Caller{Subject: caller})
		reply := session.Call(ctx, "mcp_aql", []byte(request))
		checkOfficial(t, reply.JSON)
		return string(reply.JSON)
	}
}

const hideEmail = "  - {name: x, hide: [Client.email], not: {callers: [ann]}}\n"

// Fields that the policy hides from a caller are in no result, at no depth, and all else is there.
func TestHiddenFields(t *testing.T) {
	plain, call := hiding(t, "", Options{}), hiding(t, hideEmail, Options{})
	for _, operation := range []string{"get_client", "list_clients", "page_clients", "name_client", "move_client"} {
		for _, request := range []string{
			`{"operation":"` + operation + `"}`, `{"operations":[{"operation":"` + operation + `"}]}`,
		} {
			want := plain("bob", request)
			if got := call("ann", request); got != want {
				t.Errorf("ann: %s, want %s", got, want)
			}
			if diff := cmp.Diff(without(t, want, "name", "email"), without(t, call("bob", request), "", "")); diff != "" {
				t.Errorf("bob (-want +got):\n%s", diff)
			}
		}
	}
}

// without returns a JSON text as values, without one member of the objects that have another one too.
func without(t *testing.T, text, other, name string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	var remove func(value any)
	remove = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if _, has := value[other]; has {
				delete(value, name)
			}
			for _, inner := range value {
				remove(inner)
			}
		case []any:
			for _, inner := range value {
				remove(inner)
			}
		}
	}
	remove(value)
	return value
}

// A hidden field that a request selects is answered like one that does not exist, and a selection around it lacks it.
func TestHiddenFieldsCannotBeSelected(t *testing.T) {
	call := hiding(t, hideEmail, Options{})
	get := func(caller, fields string) string {
		return call(caller, `{"operation":"get_client","params":{"fields":`+fields+`}}`)
	}
	for _, path := range []string{"PATH", "parent.PATH", "friends.PATH", "by_role.boss.PATH", "pairs.parent.PATH"} {
		of := func(field string) string {
			fields := `["name","` + strings.ReplaceAll(path, "PATH", field) + `"]`
			return strings.ReplaceAll(get("bob", fields), field, "FIELD")
		}
		if diff := cmp.Diff(of("emaix"), of("email")); diff != "" ||
			!strings.Contains(of("email"), "VALIDATION_UNKNOWN_FIELD") {
			t.Errorf("%s (-unknown +hidden):\n%s", path, diff)
		}
		if got := get("ann", `["`+strings.ReplaceAll(path, "PATH", "email")+`"]`); !strings.Contains(got, `"success":true`) {
			t.Errorf("ann: %s: %s", path, got)
		}
	}
	for fields, want := range map[string]string{
		`"minimal"`:                 `{"name":"Ann"}`,
		`["address"]`:               `{"address":{"city":"Ulm","email":"address"}}`,
		`["parent.name"]`:           `{"parent":{"name":"Ann"}}`,
		`["by_role.boss.address"]`:  `{"by_role":{"boss":{"address":{"city":"Ulm","email":"address"}}}}`,
		`["friends.friends.name"]`:  `{"friends":[{"friends":[{"name":"Ann"}]}]}`,
		`["pairs.parent.by_role"]`:  "",
		`["parent","friends.name"]`: "",
	} {
		got := get("bob", fields)
		if strings.Contains(got, "secret") || want != "" && got != `{"success":true,"data":`+want+`}` {
			t.Errorf("%s: %s, want %s", fields, got, want)
		}
	}
}

// Whatever a request selects, nothing hidden comes out.
func TestHiddenFieldsAtRandom(t *testing.T) {
	call := hiding(t, "  - {name: x, hide: ['*.email', Client.pairs]}\n", Options{OmitUnknownFields: true})
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"name", "email", "parent", "friends", "by_role", "boss", "home", "owner", "pairs", "address", "city"}
	for range 500 {
		var paths []string
		for range 1 + random.IntN(3) {
			path := names[random.IntN(len(names))]
			for range random.IntN(4) {
				path += "." + names[random.IntN(len(names))]
			}
			paths = append(paths, path)
		}
		request := `{"operation":"get_client","params":{"fields":["` + strings.Join(paths, `","`) + `"]}}`
		answer := call("bob", request)
		data, _, _ := strings.Cut(answer, `,"warnings"`)
		for _, leaked := range []string{"secret", `"email"`, `"pairs"`} {
			if strings.Contains(data, leaked) {
				t.Fatalf("%s: %s", request, answer)
			}
		}
	}
}

// Introspection has no field that results do not have. A type that parameters mention keeps it, and says so.
func TestHiddenFieldsInIntrospection(t *testing.T) {
	call := hiding(t, "  - {name: x, hide: ['*.email'], not: {callers: [ann]}}\n", Options{})
	typ := func(caller, name string) string {
		return call(caller, `{"operation":"introspect","params":{"query":"types","name":"`+name+`"}}`)
	}
	if got := typ("bob", "Client"); strings.Contains(got, "email") || !strings.Contains(got, `"name":"name"`) {
		t.Errorf("bob: %s", got)
	}
	if got := typ("bob", "Address"); !strings.Contains(got, "Where bills go. Not in results") {
		t.Errorf("bob: %s", got)
	}
	if got := typ("ann", "Client") + typ("ann", "Address"); strings.Contains(got, "Not in") ||
		strings.Count(got, "email") != 2 {
		t.Errorf("ann: %s", got)
	}
}

// What cannot be hidden ends the start, so that nothing leaks that was meant to be hidden.
func TestFieldsThatCannotBeHidden(t *testing.T) {
	for rules, want := range map[string]string{
		"{name: x, hide: [client.email]}":                    "did you mean Client.email?",
		"{name: x, hide: [Client.emial]}":                    "did you mean Client.email?",
		"{name: x, hide: [ClientList.items]}":                "the handler of list_clients does not return it as a field",
		"{name: x, hide: ['Client.*', Nothing.x]}":           "Nothing.x matches no field of a result",
		"{name: x, hide: [Client.email], operations: ['*']}": "operations is for rules about calls",
		"{name: x, hide: [Client.email], effect: deny}":      "effect is for rules about calls",
		"{name: x, hide: [email]}":                           "write the type and the field",
		"{name: x, hide: ['Client.{a,b}']}":                  "does not list alternatives here",
	} {
		text := "version: 1\nrules:\n  - " + rules + "\n"
		p, err := policyfile.Parse("policy.yaml", []byte(text))
		if err == nil {
			_, err = New(gen.NewRegistry(hidingHandlers(), hidingTypes), Options{Policy: p})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rules, err, want)
		}
	}
}
