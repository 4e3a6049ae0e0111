package llms

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func surface(t *testing.T, mode describe.Mode, profile string) describe.Surface {
	t.Helper()
	p, err := describe.FindProfile(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	return describe.Surface{Mode: mode, Profile: p}
}

func TestRender(t *testing.T) {
	a := &gen.Adapter{Name: "shop", Version: "1.0.0", Operations: []gen.Operation{
		{Name: "get_item", Category: gen.Read, Description: "Reads an item. And more.", Returns: gen.Returns{Name: "Item"}, Params: []gen.Param{
			{Name: "item_id", Type: "string", Required: true}, {Name: "fields", Type: gen.TypeSelection}, {Name: "limit", Type: "integer", Default: "25"},
			{Name: "note", Type: "string", Default: "\"a ` b\""},
		}},
		{Name: "drop_items", Category: gen.Delete, Danger: gen.Destructive, Replacement: "get_item", Returns: gen.Returns{Name: "Nothing"}},
	}}
	text, err := Render(a, surface(t, describe.All, "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/shop.md"
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

// Beside the operations the text is short, however many of them ask first.
func TestTheWayOfUseStaysShort(t *testing.T) {
	a := &gen.Adapter{Name: "many"}
	for i := range 100 {
		a.Operations = append(a.Operations, gen.Operation{Name: fmt.Sprintf("drop_%d", i), Category: gen.Delete, Danger: gen.Destructive})
	}
	text, err := Render(a, surface(t, describe.Single, "crude"))
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
	if _, err := Render(&gen.Adapter{}, describe.Surface{}); err == nil {
		t.Error("no error")
	}
}
