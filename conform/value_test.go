package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"unicode/utf8"
)

func newTestProber(types map[string]*typeDetails) *prober {
	p := newProber(context.Background(), nil, Options{Seed: 1})
	p.types = types
	return p
}

func number(text string) *json.Number {
	n := json.Number(text)
	return &n
}

// Values keep every constraint that introspection tells.
func TestValuesKeepTheirConstraints(t *testing.T) {
	most := func(n int) *int { return &n }
	p := newTestProber(map[string]*typeDetails{
		"Colour": {Name: "Colour", Kind: "enum", Values: []string{"red", "green"}},
		"Paint": {Name: "Paint", Kind: "object", Fields: []param{
			{Name: "colour", Type: "Colour", Required: true}, {Name: "id", Type: "string", Description: "Read-only"},
		}},
		"Either": {Name: "Either", Kind: "union", Members: []string{"Either", "Paint"}},
	})
	text := func(ok func(s string) bool) func(any) bool {
		return func(value any) bool { s, isText := value.(string); return isText && ok(s) }
	}
	count := func(low, high float64) func(any) bool {
		return func(value any) bool {
			n, isNumber := value.(json.Number)
			f, err := n.Float64()
			return isNumber && err == nil && f >= low && f <= high
		}
	}
	for name, tt := range map[string]struct {
		param param
		holds func(value any) bool
	}{
		"short text": {param{Type: "string", MaxLength: most(3)},
			text(func(s string) bool { return utf8.RuneCountInString(s) <= 3 })},
		"long text": {param{Type: "string", MinLength: 40},
			text(func(s string) bool { return utf8.RuneCountInString(s) >= 40 })},
		"exact text": {param{Type: "string", MinLength: 5, MaxLength: most(5)},
			text(func(s string) bool { return utf8.RuneCountInString(s) == 5 })},
		"pattern": {param{Type: "string", Pattern: `^[A-Z]{2}-\d{3,}$`},
			text(regexp.MustCompile(`^[A-Z]{2}-\d{3,}$`).MatchString)},
		"address": {param{Type: "string", Format: "email"},
			text(regexp.MustCompile(`^\S+@example\.com$`).MatchString)},
		"uuid": {param{Type: "string", Format: "uuid"},
			text(regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`).MatchString)},
		"a minimum":        {param{Type: "integer", Minimum: number("17")}, count(17, 26)},
		"a maximum":        {param{Type: "integer", Maximum: number("-3")}, count(-12, -3)},
		"both":             {param{Type: "integer", Minimum: number("2"), Maximum: number("3")}, count(2, 3)},
		"fractions around": {param{Type: "integer", Minimum: number("2.5"), Maximum: number("3.5")}, count(3, 3)},
		"an enum":          {param{Type: "string", Enum: []any{"a"}}, func(value any) bool { return value == "a" }},
		"an enum type":     {param{Type: "Colour"}, func(value any) bool { return value == "red" || value == "green" }},
		"what is writable": {param{Type: "Paint"}, func(value any) bool { return len(value.(map[string]any)) == 1 }},
		"a union of types": {param{Type: "integer | string[]"}, count(1, 9)},
		"a list of types":  {param{Type: "string[]"}, func(value any) bool { return len(value.([]any)) == 1 }},
		"a field of a filter that takes operators only": {param{
			Type: "object", Items: &param{Type: "integer"}, Description: "Object with operators: gte, lte. Map of integers",
		}, func(value any) bool { return count(1, 9)(value.(map[string]any)["gte"]) }},
		"a list": {param{Type: "array", Items: &param{Type: "integer"}, Description: "Up to 1 item"}, func(value any) bool {
			return len(value.([]any)) == 1
		}},
		"a long list": {param{
			Type: "array", Items: &param{Type: "integer"}, Description: "3 to 4 items",
		}, func(value any) bool {
			return len(value.([]any)) >= 3
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 200 {
				if value, ok := p.newValue(&tt.param, 0); !ok || !tt.holds(value) {
					t.Fatalf("%v, %v", value, ok)
				}
			}
		})
	}
}

// What asks for more than reason is not made, and does not bring the run down.
func TestUnreasonableDescriptions(t *testing.T) {
	p := newTestProber(map[string]*typeDetails{
		"Self": {Name: "Self", Kind: "union", Members: []string{"Self"}},
		"Deep": {Name: "Deep", Kind: "object", Fields: []param{{Name: "deep", Type: "Deep", Required: true}}},
		"None": {Name: "None", Kind: "enum"},
	})
	for _, d := range []param{
		{Type: "Self"},
		{Type: "Deep"},
		{Type: "None"},
		{Type: "NoSuchType"},
		{Type: "string", Format: "cron"},
		{Type: "string", Pattern: "("},
		{Type: "string", Pattern: `(?=look)`},
		{Type: "string", MinLength: 1 << 40},
		{Type: "string", MinLength: 5, MaxLength: new(3)},
		{Type: "array", Description: "1000000000 items or more", Items: &param{Type: "string"}},
	} {
		if value, ok := p.newValue(&d, 0); ok {
			t.Errorf("%+v: %.100v", d, value)
		}
		breakLength(&d)
		breakPattern(&d)
	}
}

func TestItems(t *testing.T) {
	for text, want := range map[string][2]int{
		"Words. Up to 20 items": {0, 20}, "Exactly 3 items": {3, 3}, "2 to 5 items": {2, -1}, "1 item or more": {1, -1},
		"A maximum of 4 items": {0, 4}, "Words": {0, -1},
	} {
		low, high := itemBounds(text)
		if got := [2]int{low, high}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// What was sent is there if nothing of it is missing or otherwise; how numbers and times are written does not count.
func TestDiffers(t *testing.T) {
	for _, tt := range []struct{ sent, read, want string }{
		{`{"a":1}`, `{"a":1.0,"b":2}`, ""},
		{`{"a":1e2}`, `{"a":100}`, ""},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "a"},
		{`{"a":"2030-01-01T00:00:00Z"}`, `{"a":"2030-01-01T01:00:00+01:00"}`, ""},
		{`{"a":{"b":[1,{"c":"x"}]}}`, `{"a":{"b":[1,{"c":"y"}]}}`, "a.b[1].c"},
		{`{"a":[1]}`, `{"a":[1,2]}`, "a"},
		{`{"a":[]}`, `{}`, ""},
		{`{"a":{}}`, `{}`, ""},
		{`{"a":0}`, `{}`, "a"},
		{`{"a":""}`, `{}`, "a"},
		{`{"a":false}`, `{"a":null}`, "a"},
		{`{"a":null}`, `{}`, ""},
		{`{"a":"1"}`, `{"a":1}`, "a"},
		{`{"a":1e999999999}`, `{"a":1}`, "a"},
	} {
		sent, err := parse(tt.sent)
		if err != nil {
			t.Fatal(err)
		}
		read, err := parse(tt.read)
		if err != nil {
			t.Fatal(err)
		}
		if got := firstDifference(sent, read, ""); got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.sent, tt.read, got, tt.want)
		}
	}
}

// Where introspection says nothing of danger, name and category decide, and the worse of them.
func TestDanger(t *testing.T) {
	for _, tt := range []struct {
		operation operation
		protocol  string
		want      int
	}{
		{operation{Name: "get_item", Category: "READ"}, `{}`, 0},
		{operation{Name: "create_item", Category: "CREATE"}, `{}`, 1},
		{operation{Name: "delete_item", Category: "DELETE"}, `{}`, 2},
		{operation{Name: "delete_item", Category: "EXECUTE"}, `{}`, 2},
		{operation{Name: "purge_all", Category: "READ"}, `{}`, 2},
		{operation{Name: "force_push", Category: "UPDATE"}, `{}`, 2},
		{operation{Name: "x", Category: "NONE"}, `{}`, 2},
		{operation{Name: "run_job", Category: "EXECUTE", Description: "Runs. [danger: dangerous; confirmation required]"},
			`{}`, 3},
		{operation{Name: "delete_item", Category: "DELETE"}, `{"danger_levels":{"delete_item":"reversible"}}`, 1},
		{operation{Name: "get_item", Category: "READ"}, `{"danger_levels":{"get_item":"forbidden"}}`, 4},
		{operation{Name: "get_item", Category: "READ"}, `{"danger":{"get_item":{"level":"destructive"}}}`, 2},
		{operation{Name: "delete_item", Category: "DELETE"}, `{"danger_levels":{"delete_item":"harmless"}}`, 2},
	} {
		p := newTestProber(nil)
		value, err := parse(tt.protocol)
		if err != nil {
			t.Fatal(err)
		}
		p.protocol = value.(map[string]any)
		if got := p.dangerOf(&tt.operation); got != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.operation.Name, tt.protocol, got, tt.want)
		}
	}
}

// Creating, reading, updating, listing and deleting are paired by name, or by what they return.
func TestPairing(t *testing.T) {
	one := func(name string) []param { return []param{{Name: name, Type: "string", Required: true}} }
	returning := func(o operation, name string) *operation {
		o.Returns.Name, o.Returns.Kind = name, "object"
		return &o
	}
	p := newTestProber(nil)
	p.operations = []*operation{
		{Name: "create_note", Category: "CREATE"},
		{Name: "get_note", Category: "READ", Parameters: one("note_id")},
		{Name: "list_notes", Category: "READ"},
		{Name: "update_note", Category: "UPDATE", Parameters: append(one("note_id"), param{Name: "input"})},
		{Name: "rename_note", Category: "UPDATE", Parameters: append(one("note_id"), param{Name: "input"})},
		{Name: "delete_note", Category: "DELETE", Parameters: one("note_id")},
		returning(operation{Name: "register_user", Category: "CREATE"}, "User"),
		returning(operation{Name: "whois", Category: "READ", Parameters: one("login")}, "User"),
		{Name: "add_entry", Category: "CREATE"},
	}
	p.findResources()
	var got []string
	for _, r := range p.resources {
		names := []string{r.noun, r.id}
		for _, o := range []*operation{r.create, r.get, r.update, r.list, r.delete} {
			if o != nil {
				names = append(names, o.Name)
			}
		}
		got = append(got, fmt.Sprint(names))
	}
	want := []string{
		"[note note_id create_note get_note update_note list_notes delete_note]", "[user login register_user whois]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
