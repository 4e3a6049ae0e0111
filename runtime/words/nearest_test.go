package words

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNearest(t *testing.T) {
	operations := []string{"create_todo", "get_todo", "list_todos", "delete_todo"}
	keys := []string{"op", "min", "max", "category", "danger", "minlen", "maxlen"}
	tests := map[string]struct {
		word       string
		candidates []string
		want       []string
	}{
		"a letter left out":                {"catgory", keys, []string{"category"}},
		"two letters swapped":              {"catgeory", keys, []string{"category"}},
		"another letter":                   {"dangor", keys, []string{"danger"}},
		"upper case":                       {"CATEGORY", keys, []string{"category"}},
		"camelCase":                        {"getTodo", operations, []string{"get_todo"}},
		"the nearest first":                {"milen", keys, []string{"minlen", "maxlen"}},
		"as near: in the order given":      {"mix", keys, []string{"min", "max"}},
		"a short candidate differs by one": {"xp", keys, []string{"op"}},
		"and by no more":                   {"xy", keys, nil},
		"a word like no candidate":         {"frobnicate", operations, nil},
		"no word":                          {"", keys, nil},
		"a word that is too long":          {strings.Repeat("a", longest+1), []string{strings.Repeat("a", longest+1)}, nil},
		"a candidate that is too long":     {strings.Repeat("a", longest), []string{strings.Repeat("a", longest+1)}, nil},
		"the longest word and candidate": {strings.Repeat("a", longest),
			[]string{strings.Repeat("b", 2) + strings.Repeat("a", longest-2)},
			[]string{strings.Repeat("b", 2) + strings.Repeat("a", longest-2)}},
		"bytes that are no letters":         {"\xff\xfe", []string{"\xff\xfe\xfd"}, []string{"\xff\xfe\xfd"}},
		"a word that is one of the choices": {"min", keys, []string{"min"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Nearest(tt.word, tt.candidates, 2)); diff != "" {
				t.Errorf("nearest to %q (-want +got):\n%s", tt.word, diff)
			}
		})
	}
}

func TestSuggest(t *testing.T) {
	many := strings.Split("aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk llll mmmm", " ")
	for _, tt := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"catgory", []string{"op", "category"}, "; did you mean category?"},
		{"xyz", []string{"op", "category"}, "; there is op, category"},
		{"xyz", many, "; there is aaaa, bbbb, cccc, dddd, eeee, ffff, gggg, hhhh, iiii, jjjj, kkkk, llll, …"},
		{"", []string{"op"}, "; there is op"},
		{"xyz", nil, ""},
	} {
		if got := Suggest(tt.word, tt.candidates); got != tt.want {
			t.Errorf("Suggest(%q, %q) is %q, want %q", tt.word, tt.candidates, got, tt.want)
		}
	}
}

// The distance is a metric as far as suggestions need one: none to itself, the same both ways, and never more than
// replacing the whole word.
func FuzzDistance(f *testing.F) {
	f.Add("category", "catagory")
	f.Add("", "_")
	f.Add("ab", "ba")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > longest || len(b) > longest {
			return
		}
		there, back := distance(a, b), distance(b, a)
		if there != back {
			t.Errorf("%q to %q is %d, and back %d", a, b, there, back)
		}
		if there > max(len(a), len(b)) || there < 0 {
			t.Errorf("%q to %q is %d", a, b, there)
		}
		if own := distance(a, a); own != 0 {
			t.Errorf("%q to itself is %d", a, own)
		}
	})
}
