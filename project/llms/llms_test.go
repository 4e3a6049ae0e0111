package llms

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/project"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func surface(t *testing.T, mode project.Mode, profile string) project.Surface {
	t.Helper()
	p, err := project.FindProfile(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	return project.Surface{Mode: mode, Profile: p}
}

func TestRender(t *testing.T) {
	a := &model.Adapter{Name: "shop", Version: "1.0.0", Operations: []model.Operation{
		{Name: "get_item", Category: model.Read, Description: "Reads an item. And more.", Returns: model.Returns{Name: "Item"}, Params: []model.Param{
			{Name: "item_id", Type: "string", Required: true}, {Name: "fields", Type: model.TypeSelection}, {Name: "limit", Type: "integer", Default: "25"},
			{Name: "note", Type: "string", Default: "\"a ` b\""},
		}},
		{Name: "drop_items", Category: model.Delete, Danger: model.Destructive, Replacement: "get_item", Returns: model.Returns{Name: "Nothing"}},
	}}
	text, err := Render(a, surface(t, project.All, "semantic"))
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
	a := &model.Adapter{Name: "many"}
	for i := range 100 {
		a.Operations = append(a.Operations, model.Operation{Name: fmt.Sprintf("drop_%d", i), Category: model.Delete, Danger: model.Destructive})
	}
	text, err := Render(a, surface(t, project.Single, "crude"))
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
	if _, err := Render(&model.Adapter{}, project.Surface{}); err == nil {
		t.Error("no error")
	}
}
