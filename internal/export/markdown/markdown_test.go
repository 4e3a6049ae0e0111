package markdown

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/export/exporttest"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// shop is an adapter with everything that is hard to write in Markdown.
func shop() *gen.Definitions {
	return &gen.Definitions{Name: "shop", Operations: []gen.Operation{
		{
			Name: "item", Category: gen.Read, Danger: gen.Safe, Returns: gen.Returns{Name: "Item", Kind: gen.KindObject},
			Description: "Reads an item, <b>whole</b> | or not. See https://shop.example/items_all, and `code`.\n\n" +
				"# Not a heading, nor *strong*\n\n1. not a list",
			Params: []gen.Param{
				{Name: "item_id", Type: "string", Required: true, Pattern: "^[a|b`]$", ID: true},
				{Name: "kind", Type: "string", Enum: []string{"a|b", "c"}, Default: `"a|b"`, Aliases: []string{"sort"},
					Deprecated: "use_it no_more_"},
				{Name: "tags", Type: "array", MinItems: 1, MaxItems: 1,
					Items: &gen.Param{Type: "array", Items: &gen.Param{Type: "string", MaxLength: 3}}},
				{Name: "prices", Type: "object", Items: &gen.Param{Type: "number", Minimum: "0"}, MinItems: 2},
				{Name: "pin", Type: "string", Sensitive: true, MinLength: 4, MaxLength: 4, Description: "The PIN | secret"},
				{Name: "any", Type: "any"}, {Name: "list", Type: "array"},
				{Name: "fields", Type: gen.TypeSelection, Presets: []string{"minimal"}},
			},
			Examples: []gen.Example{
				{Params: `{"item_id":"a"}`, Description: "The shortest."},
				{Params: `{"item_id":"a","tags":[["x","y","zz"],["x"]],"prices":{"a":1,"b":2.50},"pin":"1234","kind":"a|b"}`},
			},
		},
		{
			Name: "drop", Category: gen.Delete, Danger: gen.Forbidden, Deprecated: "Too easy.", Replacement: "item",
			Reasons: []string{"All is lost", "For <ever>"},
			Confirm: "Drop *all* of {kind}?", Returns: gen.Returns{Name: "Nothing", Kind: gen.KindScalar}, Family: "operate",
		},
		{Name: "operations", Category: gen.Execute, Danger: gen.Dangerous, Replacement: "gone",
			Returns: gen.Returns{Name: "Either", Kind: gen.KindUnion}},
	}, Types: []gen.Type{
		{Name: "Item", Kind: gen.KindObject, Description: "A thing\n\nto sell", Fields: []gen.Param{
			{Name: "_etag", Type: "string", ReadOnly: true},
			{Name: "log", Type: "array", Items: &gen.Param{Type: "Item"}, AppendOnly: true, Presets: []string{"minimal"}},
		}},
		{Name: "Either", Kind: gen.KindUnion, Members: []string{"Item", "Nothing"}},
		{Name: "Empty", Kind: gen.KindObject}, {Name: "Nothing", Kind: gen.KindScalar},
		{Name: "Types", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: ""}, {Value: "x|y"}}},
		{Name: "Map", Kind: gen.KindObject, Items: &gen.Param{Type: "Item"}},
	}}
}

func TestRender(t *testing.T) {
	text, err := Render(shop(), exporttest.Surface(t, describe.Semantic, "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	exporttest.Golden(t, "shop.md", text)
}

var (
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	links    = regexp.MustCompile(`\]\(#([^)]*)\)`)
	fences   = regexp.MustCompile("(?s)```.*?```")
)

// Every link leads to a heading, also where an operation, a type and a section are called the same.
func TestAnchors(t *testing.T) {
	for _, s := range []describe.Surface{
		exporttest.Surface(t, describe.Semantic, "crude"), exporttest.Surface(t, describe.Single, "semantic"),
	} {
		text, err := Render(shop(), s)
		if err != nil {
			t.Fatal(err)
		}
		page := fences.ReplaceAllString(string(text), "")
		anchors, count := map[string]bool{}, map[string]int{}
		for _, m := range headings.FindAllStringSubmatch(page, -1) {
			anchor := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
			n := count[anchor]
			count[anchor]++
			if n > 0 {
				anchor += "-" + string(rune('0'+n))
			}
			anchors[anchor] = true
		}
		if !anchors["item"] || !anchors["item-1"] {
			t.Errorf("the names of the fixture do not collide any more: %v", anchors)
		}
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			if !anchors[m[1]] {
				t.Errorf("#%s leads nowhere", m[1])
			}
		}
	}
}

func TestRenderRefusesASurfaceThatIsNotValid(t *testing.T) {
	if _, err := Render(shop(), describe.Surface{}); err == nil {
		t.Error("no error")
	}
}
