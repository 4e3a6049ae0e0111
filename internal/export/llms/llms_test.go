package llms

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/export/exporttest"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-IN-20: the text lists the operations of each family and the types, and says how to find out more.
func TestRender(t *testing.T) {
	a := &gen.Definitions{Name: "shop", Version: "1.0.0", Operations: []gen.Operation{
		{
			Name: "get_item", Category: gen.Read, Description: "Reads an item. And more.", Returns: gen.Returns{Name: "Item"},
			Params: []gen.Param{
				{Name: "item_id", Type: "string", Required: true}, {Name: "fields", Type: gen.TypeSelection},
				{Name: "limit", Type: "integer", Default: "25"},
				{Name: "note", Type: "string", Default: "\"a ` b\""},
			},
		},
		{Name: "drop_items", Category: gen.Delete, Danger: gen.Destructive, Replacement: "get_item",
			Returns: gen.Returns{Name: "Nothing"}},
	}}
	text, err := Render(a, exporttest.Surface(t, describe.All, "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	exporttest.Golden(t, "shop.md", text)
}

// Beside the operations the text is short, however many of them ask first.
func TestTheWayOfUseStaysShort(t *testing.T) {
	a := &gen.Definitions{Name: "many"}
	for i := range 100 {
		a.Operations = append(a.Operations,
			gen.Operation{Name: fmt.Sprintf("drop_%d", i), Category: gen.Delete, Danger: gen.Destructive})
	}
	text, err := Render(a, exporttest.Surface(t, describe.Single, "crude"))
	if err != nil {
		t.Fatal(err)
	}
	use, operations, _ := strings.Cut(string(text), "## Operations")
	if len(use) > 2000 || strings.Count(operations, "\n- ") != 100 {
		t.Errorf("%d bytes, then %d operations", len(use), strings.Count(operations, "\n- "))
	}
	if !strings.Contains(use, "`drop_4` and 95 more ask first") {
		t.Errorf("got %s", use)
	}
}

func TestRenderRefusesASurfaceThatIsNotValid(t *testing.T) {
	if _, err := Render(&gen.Definitions{}, describe.Surface{}); err == nil {
		t.Error("no error")
	}
}
