package openapi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/export/exporttest"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

func shop() *gen.Definitions {
	return &gen.Definitions{Name: "shop", Version: "2.0.0", Operations: []gen.Operation{
		{
			Name: "create_item", Category: gen.Create, Danger: gen.Reversible, Description: "Adds an item. It is <new> & free.",
			Params: []gen.Param{{Name: "item", Type: "Item", Required: true},
				{Name: "size", Type: "Size", Enum: []string{"s", "l"}, Default: `"s"`}},
			Returns: gen.Returns{Name: "Item", Kind: gen.KindObject, Description: "A thing to sell"},
			Examples: []gen.Example{{Params: `{"item":{"name":"Tea"}}`, Description: "The shortest"},
				{Params: `{"item":{"name":"Tea"},"size":"l"}`}},
		},
		{
			Name: "drop_items", Category: gen.Delete, Danger: gen.Dangerous, Reasons: []string{"All is lost", "No backup"},
			Deprecated:  "Too easy.",
			Replacement: "create_item", Description: "Removes all.", Returns: gen.Returns{Name: "Nothing", Kind: gen.KindScalar},
		},
	}, Types: []gen.Type{
		{Name: "Item", Kind: gen.KindObject, Fields: []gen.Param{
			{Name: "name", Go: "Name", Type: "string", Required: true, MaxLength: 9},
			{Name: "parts", Go: "Parts", Type: "array", Items: &gen.Param{Type: "Item"}, OmitEmpty: true},
		}},
		{Name: "Nothing", Kind: gen.KindScalar},
		{Name: "Size", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "s"}, {Value: "l"}}},
	}}
}

func surface(t *testing.T, mode describe.Mode) describe.Surface {
	t.Helper()
	s := exporttest.Surface(t, mode, "")
	s.Prefix = "shop_"
	return s
}

func TestRender(t *testing.T) {
	text, err := Render(shop(), surface(t, describe.Semantic))
	if err != nil {
		t.Fatal(err)
	}
	exporttest.Golden(t, "shop.json", text)
}

// Whatever a document refers to, it has, and it has nothing that it does not refer to.
func TestReferencesLeadSomewhere(t *testing.T) {
	text, err := Render(shop(), surface(t, describe.All))
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"\$ref": "#/([^"]*)"`).FindAllSubmatch(text, -1) {
		used[string(m[1])] = true
		at := document
		for step := range strings.SplitSeq(string(m[1]), "/") {
			members, ok := at.(map[string]any)
			if at = members[step]; !ok || at == nil {
				t.Errorf("%s leads nowhere", m[1])
				break
			}
		}
	}
	for kind, parts := range document.(map[string]any)["components"].(map[string]any) {
		for name := range parts.(map[string]any) {
			if !used["components/"+kind+"/"+name] {
				t.Errorf("nothing refers to %s %s", kind, name)
			}
		}
	}
	if !bytes.Contains(text, []byte(`"ItemInput"`)) {
		t.Error("an item is read and written by one schema, although the rules differ")
	}
}

func TestRenderRefuses(t *testing.T) {
	if _, err := Render(shop(), describe.Surface{}); err == nil {
		t.Error("a surface that is not valid is accepted")
	}
	a := shop()
	a.Operations[0].Params[1].Default = "{"
	if _, err := Render(a, surface(t, describe.Single)); err == nil || !strings.Contains(err.Error(), "create_item") {
		t.Errorf("a default that is no JSON: %v", err)
	}
	a = shop()
	a.Operations[0].Examples[0].Params = "{"
	if _, err := Render(a, surface(t, describe.Single)); err == nil {
		t.Error("an example that is no JSON is accepted")
	}
}
