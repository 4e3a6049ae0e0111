package reference

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

func TestSlugs(t *testing.T) {
	taken := map[string]int{}
	var got []string
	for _, title := range []string{"Item", "item", "Item-1", "item", "get_todo", "shop adapter 1.2.3", "Größe!"} {
		got = append(got, slug(title, taken))
	}
	want := []string{"item", "item-1", "item-1-1", "item-2", "get_todo", "shop-adapter-123", "größe"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"plain text.":                   "plain text.",
		"a*b* [c](d) <e> `f`":           "a\\*b\\* \\[c\\](d) \\<e\\> \\`f\\`",
		"snake_case _this_ x_ _y":       "snake_case \\_this\\_ x\\_ \\_y",
		"- no list":                     "\\- no list",
		"# no heading":                  "\\# no heading",
		"12. no list":                   "12\\. no list",
		"2026 is a year":                "2026 is a year",
		"see http://x.example/a_b_, ok": "see <http://x.example/a_b_>, ok",
		"A&B; &amp; R & D":              "A\\&B; \\&amp; R & D",
		"two\nlines":                    "two lines",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// In discrete mode a request is the arguments of the operation's tool.
func TestDiscreteMode(t *testing.T) {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &gen.Definitions{Name: "shop", Operations: []gen.Operation{{
		Name: "get_item", Category: gen.Read, Danger: gen.Safe, Description: "Gets it.",
		Params:   []gen.Param{{Name: "item_id", Type: "string", Required: true}},
		Examples: []gen.Example{{Params: `{"item_id":"a"}`}},
	}}}
	page, err := Render(a, describe.Surface{Mode: describe.Discrete, Profile: profile, Prefix: "my_"}, describe.Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"through a tool for each of", "tool `my_get_item`", "```json\n{\"item_id\": \"a\"}\n```",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
	if strings.Contains(string(page), `"operation"`) {
		t.Errorf("a request names its operation:\n%s", page)
	}
}
