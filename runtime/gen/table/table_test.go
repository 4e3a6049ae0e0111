package table

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

func TestRowsReadAsTheyArePrinted(t *testing.T) {
	tests := []struct {
		name  string
		param gen.Param
		want  string
	}{
		{"a plain string", gen.Param{Name: "title", Go: "Title", Type: "string"}, "Title title string"},
		{"rules", gen.Param{Name: "title", Go: "Title", Type: "string", Required: true, MinLength: 1, MaxLength: 200}, "Title title string required,minlen=1,maxlen=200"},
		{"a promoted field", gen.Param{Name: "limit", Go: "Page.Limit", Type: "integer", Default: "25", Minimum: "1"}, "Page.Limit limit integer default=25,min=1"},
		{"a list", gen.Param{Name: "tags", Go: "Tags", Type: "array", Items: &gen.Param{Type: "string"}, MaxItems: 20}, "Tags tags []string maxitems=20"},
		{
			"a map of lists with rules for the elements", gen.Param{Name: "m", Go: "M", Type: "object", Items: &gen.Param{
				Type: "array", MinItems: 1, Items: &gen.Param{Type: "string", Format: "date-time", Enum: []string{"it's", "a,b"}},
			}},
			"M m {}[]string items='minitems=1,items=''enum=''''it''''''''s''''|''''a,b'''',format=date-time'''",
		},
		{
			"a list of lists whose elements are described", gen.Param{Name: "m", Go: "M", Type: "array", Items: &gen.Param{
				Type: "array", Description: "A line", Items: &gen.Param{Type: "string", Description: "It's, too"},
			}},
			"M m [][]string items='items=''desc=''''It''''''''s, too'''''',desc=A line'",
		},
		{"the request itself", gen.Param{Name: "input", Type: "TodoChanges", Required: true}, ". input TodoChanges required"},
		{"values with commas, bars, quotes and spaces", gen.Param{Name: "p", Go: "P", Type: "string", Pattern: "^[a,b|c']$", Deprecated: " x"}, "P p string pattern='^[a,b|c'']$',deprecated=' x'"},
		{"an object without known members", gen.Param{Name: "o", Go: "O", Type: "object"}, "O o object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row := Print(&tt.param, nil)
			if diff := cmp.Diff(tt.want, row[0]); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
			got, err := Parse(row)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.param, got); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// Print and Parse agree on parameters of every kind.
func TestPrintAndParseAgree(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := randomParam(r, 0)
		got, err := Parse(Print(&p, nil))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatalf("seed %d: %v\n%s", seed, Print(&p, nil), diff)
		}
	}
}

func randomParam(r *rand.Rand, depth int) gen.Param {
	text := func() string {
		letters := []string{"", "a", "it's", ",", "|", "=", "'", " x ", "items=", `"q"`, "é", "''"}
		out := ""
		for range r.IntN(4) {
			out += letters[r.IntN(len(letters))]
		}
		return out
	}
	list := func() (out []string) {
		for range r.IntN(3) {
			out = append(out, text())
		}
		return out
	}
	yes := func() bool { return r.IntN(4) == 0 }
	p := gen.Param{
		Type: "string", Required: yes(), Default: text(), Enum: list(), Minimum: text(), MinLength: r.IntN(3), MaxItems: r.IntN(3),
		Pattern: text(), Format: text(), Sensitive: yes(), ReadOnly: yes(), AppendOnly: yes(), ID: yes(), Aliases: list(), Presets: list(),
		Deprecated: text(), OmitEmpty: yes(), OmitZero: yes(), Quoted: yes(),
	}
	p.Description = text()
	if depth == 0 {
		p.Name, p.Go = "name", "Field.Name"
	}
	if depth < 3 && yes() {
		items := randomParam(r, depth+1)
		p.Type, p.Items = []string{"array", "object"}[r.IntN(2)], &items
	}
	return p
}

func FuzzParse(f *testing.F) {
	f.Add("Title title string required,maxlen=200", "")
	f.Add("T t {}[]string items='items=''min=1'''", "What")
	f.Fuzz(func(t *testing.T, spec, doc string) {
		p, err := Parse(Row{spec, doc})
		if err != nil {
			return
		}
		again, err := Parse(Print(&p, nil))
		if err != nil {
			t.Fatalf("%q: %v", Print(&p, nil), err)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTypesOfChanges(t *testing.T) {
	rows := []Type{
		{Name: "Level", Kind: gen.KindEnum, Values: []Row{{"low", "Hardly"}, {"high"}}},
		{Name: "Meta", Kind: gen.KindObject, Fields: []Row{{"Color color string", "What color"}, {"ID id string id"}}},
		{Name: "Todo", Kind: gen.KindObject, Description: "A thing", Fields: []Row{
			{"Title title string required"}, {`Level level Level default="low"`}, {"Meta meta Meta"}, {"All all {}Meta"}, {"List list []Meta"},
			{"At at string format=date-time,readonly"},
		}},
		{Name: "MetaPatch", Kind: gen.KindObject, Changes: "Meta"},
		{Name: "TodoPatch", Kind: gen.KindObject, Changes: "Todo"},
	}
	types, err := Types(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := gen.Type{Name: "TodoPatch", Kind: gen.KindObject, Changes: "Todo", Fields: []gen.Param{
		{Name: "title", Go: "Title", Type: "string"},
		{Name: "level", Go: "Level", Type: "Level", Enum: []string{"low", "high"}},
		{Name: "meta", Go: "Meta", Type: "MetaPatch"},
		{Name: "all", Go: "All", Type: "object", Items: &gen.Param{Type: "MetaPatch"}},
		{Name: "list", Go: "List", Type: "array", Items: &gen.Param{Type: "Meta"}},
	}}
	i := slices.IndexFunc(types, func(t gen.Type) bool { return t.Name == "TodoPatch" })
	if diff := cmp.Diff(want, types[i]); diff != "" {
		t.Error(diff)
	}
}

func TestFaultyTables(t *testing.T) {
	for _, row := range []string{"", "Title", "Title title", "Title title string nonsense", "T t string min='x", "T t string maxlen=x", "T t string items=min"} {
		if _, err := Types([]Type{{Name: "T", Fields: []Row{{row}}}}); err == nil {
			t.Errorf("%q: no error", row)
		}
	}
	if _, err := Types([]Type{{Name: "T", Changes: "U"}}); err == nil {
		t.Error("changes of an unknown type: no error")
	}
	for _, o := range []Operation{{Name: "a", Returns: "U"}, {Name: "a", Params: []Row{{"x"}}}} {
		if _, err := o.Definition(nil); err == nil {
			t.Errorf("%v: no error", o)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	row := Row{"Title title string required,minlen=1,maxlen=200", "What has to be done"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(row); err != nil {
			b.Fatal(err)
		}
	}
}
