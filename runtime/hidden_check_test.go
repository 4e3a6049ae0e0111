package aql

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/google/go-cmp/cmp"
)

// vault is in results in many ways.
type vault struct {
	Name     string
	Password string // sensitive: results leave it out
	Holder   vaultHolder
	Deputy   *ownHolder
}

type vaultHolder struct{ Email, Phone string }

// ownHolder writes what a holder is.
type ownHolder struct{ vaultHolder }

func (o ownHolder) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"email": o.Email, "phone": o.Phone})
}

// checkHiding says whether a policy that hides fields of a vault is accepted, where the deputy has a type.
func checkHiding(deputy string, hide string) string {
	definitions := []gen.WireType{
		{Name: "Vault", Kind: gen.KindObject, Withheld: []string{"seal"}, Fields: []gen.Field{
			{Name: "name", Go: "Name", Type: "string"},
			{Name: "password", Go: "Password", Type: "string", Sensitive: true},
			{Name: "holder", Go: "Holder", Type: "Holder"},
			{Name: "deputy", Go: "Deputy", Type: deputy, Nullable: true},
		}},
		{Name: "Holder", Kind: gen.KindObject, Fields: []gen.Field{
			{Name: "email", Go: "Email", Type: "string"}, {Name: "phone", Go: "Phone", Type: "string"},
		}},
		{Name: "Somebody", Kind: gen.KindUnion, Members: []string{"Holder"}},
	}
	handler := gen.Handler{
		Name: "get_vault", Category: gen.Read, Danger: gen.Safe, Description: "Reads.", Returns: "Vault",
		Request: (*struct{})(nil), Result: (**vault)(nil),
		Call: func(context.Context, []any, any) (any, error) { return &vault{Name: "V", Password: "p"}, nil },
	}
	var hiding []policy.Rule
	for i, pattern := range strings.Fields(hide) {
		hiding = append(hiding, policy.Rule{Name: "r" + string(rune('0'+i)), Hide: []string{pattern}})
	}
	_, err := New(gen.NewRegistry([]gen.Handler{handler}, definitions), Options{Policy: &policy.Policy{Rules: hiding}})
	if err == nil {
		return "accepted"
	}
	return err.Error()
}

// B5: a rule may name what results leave out for everybody, alone or beside what they have; and a field is hidden in
// all places of a result in which its type occurs, or the adapter does not start.
func TestWhatPoliciesCanHide(t *testing.T) {
	const opaque = ".email cannot be hidden: the handler of get_vault returns a value with it that writes its own JSON"
	for _, test := range []struct{ name, deputy, hide, want string }{
		{"a sensitive field", "any", "Vault.password", "accepted"},
		{"a sensitive field by a pattern", "any", "*.password", "accepted"},
		{"all fields of a type with a sensitive one", "any", "Vault.*", "accepted"},
		{"a field that no definition has", "any", "Vault.seal", "accepted"},
		{"such a field by a pattern", "any", "*.seal", "accepted"},
		{"a plain field", "any", "Holder.email", "accepted"},
		{"no field", "any", "Vault.sael", "Vault.sael matches no field of a result; did you mean Vault.seal?"},
		{"a type that occurs in a value that writes itself too", "Holder", "Holder.email", "Holder" + opaque},
		{"a union that is written by itself", "Somebody", "Holder.email", "Holder" + opaque},
		{"such a value in a field that others do not get", "Holder", "Vault.deputy Holder.email", "Holder" + opaque},
		{"a field below one that others do not get", "any", "Vault.holder Holder.email", "accepted"},
	} {
		got := checkHiding(test.deputy, test.hide)
		if _, message, found := strings.Cut(got, test.want); found && message == "" {
			got = test.want
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

type buyer struct{ Name, Email string }

type goldBuyer struct {
	*buyer
	Level int
}

type oldBuyer struct {
	goldBuyer
	Email string // that of the embedded struct is not in JSON
}

// B5: a rule about a field of a type is one about the same field of types that embed it, in results, in selections and
// in introspection. A field of another struct with the same name is not that field.
func TestHiddenFieldsArePromoted(t *testing.T) {
	definitions := []gen.WireType{
		{Name: "Buyer", Kind: gen.KindObject, Fields: []gen.Field{
			{Name: "name", Go: "Name", Type: "string"}, {Name: "email", Go: "Email", Type: "string"},
		}},
		{Name: "GoldBuyer", Kind: gen.KindObject, Fields: []gen.Field{
			{Name: "name", Go: "buyer.Name", Type: "string"}, {Name: "mail", Go: "buyer.Email", Type: "string"},
			{Name: "level", Go: "Level", Type: "integer"},
		}},
		{Name: "OldBuyer", Kind: gen.KindObject, Fields: []gen.Field{
			{Name: "name", Go: "goldBuyer.buyer.Name", Type: "string"}, {Name: "level", Go: "goldBuyer.Level", Type: "integer"},
			{Name: "email", Go: "Email", Type: "string"},
		}},
	}
	read := func(name, returns string, result, value any) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Read, Danger: gen.Safe, Description: "Reads.", Returns: returns,
			Request: (*struct{})(nil), Result: result,
			Call: func(context.Context, []any, any) (any, error) { return value, nil },
		}
	}
	ann := buyer{"Ann", "ann@example.com"}
	gold := goldBuyer{&ann, 1}
	adapter, err := New(gen.NewRegistry([]gen.Handler{
		read("get_buyer", "Buyer", (*buyer)(nil), ann), read("get_gold", "GoldBuyer", (*goldBuyer)(nil), gold),
		read("get_old", "OldBuyer", (*oldBuyer)(nil), oldBuyer{gold, "old@example.com"}),
	}, definitions), Options{Name: "buyers", Mode: ModeSingle, Policy: &policy.Policy{Rules: []policy.Rule{
		{Name: "mails", Hide: []string{"Buyer.email"}}, {Name: "names", Hide: []string{"GoldBuyer.name"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	for request, want := range map[string]string{
		`{"operation":"get_buyer"}`: `{"success":true,"data":{"name":"Ann"}}`,
		`{"operation":"get_gold"}`:  `{"success":true,"data":{"level":1}}`,
		`{"operation":"get_old"}`:   `{"success":true,"data":{"level":1,"email":"old@example.com"}}`,
		`{"operation":"introspect","params":{"query":"types","name":"GoldBuyer"}}`: `{"success":true,"data":{"type":` +
			`{"name":"GoldBuyer","kind":"object","fields":[{"name":"level","type":"integer","required":false}]}}}`,
	} {
		if got := string(session.Call(t.Context(), "mcp_aql", []byte(request)).JSON); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}
