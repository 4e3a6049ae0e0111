package openapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/project"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func shop() *model.Adapter {
	return &model.Adapter{Name: "shop", Version: "2.0.0", Operations: []model.Operation{
		{
			Name: "create_item", Category: model.Create, Danger: model.Reversible, Description: "Adds an item. It is <new> & free.",
			Params:   []model.Param{{Name: "item", Type: "Item", Required: true}, {Name: "size", Type: "Size", Enum: []string{"s", "l"}, Default: `"s"`}},
			Returns:  model.Returns{Name: "Item", Kind: model.KindObject, Description: "A thing to sell"},
			Examples: []model.Example{{Params: `{"item":{"name":"Tea"}}`, Description: "The shortest"}, {Params: `{"item":{"name":"Tea"},"size":"l"}`}},
		},
		{
			Name: "drop_items", Category: model.Delete, Danger: model.Dangerous, Reasons: []string{"All is lost", "No backup"}, Deprecated: "Too easy.",
			Replacement: "create_item", Description: "Removes all.", Returns: model.Returns{Name: "Nothing", Kind: model.KindScalar},
		},
	}, Types: []model.Type{
		{Name: "Item", Kind: model.KindObject, Fields: []model.Param{
			{Name: "name", Go: "Name", Type: "string", Required: true, MaxLength: 9}, {Name: "parts", Go: "Parts", Type: "array", Items: &model.Param{Type: "Item"}, OmitEmpty: true},
		}},
		{Name: "Nothing", Kind: model.KindScalar},
		{Name: "Size", Kind: model.KindEnum, Values: []model.EnumValue{{Value: "s"}, {Value: "l"}}},
	}}
}

func surface(t *testing.T, mode project.Mode) project.Surface {
	t.Helper()
	profile, err := project.FindProfile("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return project.Surface{Mode: mode, Profile: profile, Prefix: "shop_"}
}

func TestRender(t *testing.T) {
	text, err := Render(shop(), surface(t, project.Semantic))
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/shop.json"
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Whatever a document refers to, it has, and it has nothing that it does not refer to.
func TestReferencesLeadSomewhere(t *testing.T) {
	text, err := Render(shop(), surface(t, project.All))
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
	if _, err := Render(shop(), project.Surface{}); err == nil {
		t.Error("a surface that is not valid is accepted")
	}
	a := shop()
	a.Operations[0].Params[1].Default = "{"
	if _, err := Render(a, surface(t, project.Single)); err == nil || !strings.Contains(err.Error(), "create_item") {
		t.Errorf("a default that is no JSON: %v", err)
	}
	a = shop()
	a.Operations[0].Examples[0].Params = "{"
	if _, err := Render(a, surface(t, project.Single)); err == nil {
		t.Error("an example that is no JSON is accepted")
	}
}
