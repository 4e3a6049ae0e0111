package codec_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// chosen is laid out as aql.Selection is.
type chosen struct{ selection codec.Selection }

// choosing is the request of an operation that selects fields.
type choosing struct {
	Fields chosen
	Preset string
}

func choosingRequest(t testing.TB, set *codec.Set, presets ...string) *codec.Request {
	t.Helper()
	params := []gen.Param{
		{Name: "fields", Go: "Fields", Type: gen.TypeSelection, Presets: presets},
		{Name: "preset", Go: "Preset", Type: "string", Enum: presets},
	}
	operation := &gen.Operation{Name: "get", Category: gen.Read, Params: params}
	request, err := set.Request(reflect.TypeFor[choosing](), operation)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// selectorOf compiles the selection of fields of a type.
func selectorOf(t testing.TB, goType reflect.Type) (*codec.Selector, *codec.Result) {
	t.Helper()
	d := newDefiner()
	name := d.object(goType)
	set := codec.NewSet(d.types)
	result, err := set.Result(goType, name)
	if err != nil {
		t.Fatal(err)
	}
	selector, err := set.Selector(choosingRequest(t, set, "minimal", "standard", "full"), result, false)
	if err != nil {
		t.Fatal(err)
	}
	return selector, result
}

// REQ-FS-02, REQ-FS-05, REQ-FS-06: what is written of a selection is what a filter leaves of the whole.
func TestSelectionIsAFilter(t *testing.T) {
	for _, goType := range []reflect.Type{
		reflect.TypeFor[everything](), reflect.TypeFor[mapsAll](), reflect.TypeFor[embedding](), reflect.TypeFor[node](),
	} {
		t.Run(goType.String(), func(t *testing.T) {
			selector, result := selectorOf(t, goType)
			for seed := range uint64(perType()) {
				r := newRandom(seed)
				value := reflect.New(goType)
				r.fill(value.Elem(), 4, false)
				whole := written(t, result, value, nil)
				all := dynamic(t, whole)
				var request choosing
				// What is in the entries of a map of any values cannot be selected: the rest of the path is the entry's name.
				paths := slices.DeleteFunc(pathsOf(all, "", 6), regexp.MustCompile(`(^|\.)Any\.[^.]+\.`).MatchString)
				for range 1 + r.IntN(4) {
					if len(paths) > 0 {
						request.Fields.selection.Paths = append(request.Fields.selection.Paths, paths[r.IntN(len(paths))])
					}
				}
				if len(request.Fields.selection.Paths) == 0 {
					continue
				}
				chosen, unknown := selector.Select(unsafe.Pointer(&request), nil)
				wanted := slices.DeleteFunc(
					slices.Clone(request.Fields.selection.Paths), func(path string) bool { return slices.Contains(unknown, path) },
				)
				got := written(t, result, value, chosen.Subset)
				if diff := cmp.Diff(filtered(all, wanted), dynamic(t, got)); diff != "" {
					t.Fatalf("seed %d, paths %q of %s (-filter +selection):\n%s", seed, wanted, whole, diff)
				}
			}
		})
	}
}

func dynamic(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func written(t *testing.T, result *codec.Result, value reflect.Value, subset *codec.Subset) string {
	t.Helper()
	w := wire.NewWriter(nil)
	if result.Write(w, value.Elem().Interface(), subset); w.Err() != nil {
		t.Fatal(w.Err())
	}
	return string(w.Bytes())
}

// pathsOf lists paths into a JSON value.
func pathsOf(value any, prefix string, depth int) []string {
	var paths []string
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if depth == 0 || name == "" || strings.Contains(name, ".") {
				continue
			}
			paths = append(paths, prefix+name)
			paths = append(paths, pathsOf(value[name], prefix+name+".", depth-1)...)
		}
	case []any:
		for _, element := range value {
			paths = append(paths, pathsOf(element, prefix, depth)...)
		}
	}
	return paths
}

// filtered is what paths select of a JSON value, by looking at nothing but the JSON.
func filtered(value any, paths []string) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			var deeper []string
			whole := false
			for _, path := range paths {
				first, rest, more := strings.Cut(path, ".")
				if first != name {
					continue
				}
				if whole = whole || !more; more {
					deeper = append(deeper, rest)
				}
			}
			if whole {
				out[name] = member
			} else if deeper != nil {
				out[name] = filtered(member, deeper)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = filtered(element, paths)
		}
		return out
	default:
		return value
	}
}

type article struct {
	ID      string
	Title   string
	Body    string
	Author  *author
	Tags    []string
	Meta    map[string]string
	Parts   map[string]author
	Counts  map[int]int
	At      time.Time
	Version string
}

type author struct {
	Name  string
	Email string
	Boss  *author
}

var articleTypes = []gen.Type{
	{Name: "Article", Kind: gen.KindObject, Fields: []gen.Param{
		{Name: "id", Go: "ID", Type: "string", ID: true},
		{Name: "title", Go: "Title", Type: "string", Presets: []string{"minimal"}},
		{Name: "body", Go: "Body", Type: "string", OmitEmpty: true},
		{Name: "author", Go: "Author", Type: "Author", Presets: []string{"standard", "people"}},
		{Name: "tags", Go: "Tags", Type: "array", Items: &gen.Param{Type: "string"}},
		{Name: "meta", Go: "Meta", Type: "object", Items: &gen.Param{Type: "string"}},
		{Name: "parts", Go: "Parts", Type: "object", Items: &gen.Param{Type: "Author"}},
		{Name: "counts", Go: "Counts", Type: "object", Items: &gen.Param{Type: "integer"}, OmitEmpty: true},
		{Name: "at", Go: "At", Type: "string", Format: "date-time"},
		{Name: "_etag", Go: "Version", Type: "string"},
	}},
	{Name: "Author", Kind: gen.KindObject, Fields: []gen.Param{
		{Name: "name", Go: "Name", Type: "string"}, {Name: "email", Go: "Email", Type: "string"},
		{Name: "boss", Go: "Boss", Type: "Author"},
	}},
	{
		Name: "ArticleList", Kind: gen.KindObject,
		Fields: []gen.Param{{Name: "items", Type: "array", Items: &gen.Param{Type: "Article"}}},
	},
	{Name: "Page", Kind: gen.KindObject, Fields: []gen.Param{
		{Name: "items", Go: "Items", Type: "array", Items: &gen.Param{Type: "Article"}},
		{Name: "total", Go: "Total", Type: "integer"},
	}},
}

type page struct {
	Items []article
	Total int
}

// REQ-FS-01, REQ-FS-02, REQ-FS-03, REQ-FS-04, REQ-FS-05, REQ-FS-06, REQ-FS-07, REQ-FS-08, T-40: what requests ask for,
// and what they get.
func TestSelections(t *testing.T) {
	one := article{
		ID: "a1", Title: "T", Author: &author{Name: "Ada", Email: "a@b", Boss: &author{Name: "Grace"}}, Tags: []string{"x"},
		Meta: map[string]string{"k": "v"}, Parts: map[string]author{"p": {Name: "P"}}, Version: "v1",
	}
	for _, tt := range []struct {
		name, returns, request string
		result                 any
		search                 bool
		want                   string
		unknown                []string
	}{
		{name: "a field", request: `{"fields":["title"]}`, want: `{"title":"T","_etag":"v1"}`},
		{name: "A15: the version alone", request: `{"fields":["_etag"]}`, want: `{"_etag":"v1"}`},
		{
			name: "fields come in the order of the resource", request: `{"fields":["tags","id"]}`,
			want: `{"id":"a1","tags":["x"],"_etag":"v1"}`,
		},
		{
			name: "a nested field keeps its place", request: `{"fields":["author.name"]}`,
			want: `{"author":{"name":"Ada"},"_etag":"v1"}`,
		},
		{
			name: "deeper, through pointers", request: `{"fields":["author.boss.name","author.email"]}`,
			want: `{"author":{"email":"a@b","boss":{"name":"Grace"}},"_etag":"v1"}`,
		},
		{
			name: "the whole of an object wins over a part", request: `{"fields":["parts.p.name","parts"]}`,
			want: `{"parts":{"p":{"name":"P","email":"","boss":null}},"_etag":"v1"}`,
		},
		{
			name: "entries of a map", request: `{"fields":["meta.k","meta.none","parts.p.email"]}`,
			want: `{"meta":{"k":"v"},"parts":{"p":{"email":""}},"_etag":"v1"}`,
		},
		{
			name: "A13: entries of a map have any names", returns: "Article",
			result: article{
				Meta: map[string]string{"Content-Type": "text", "a.b": "dots", "a": ""}, Version: "v1",
				Parts: map[string]author{"P 1": {Email: "p@1"}, "p": {}},
			},
			request: `{"fields":["meta.Content-Type","meta.a.b","parts.P 1.email"]}`,
			want:    `{"meta":{"Content-Type":"text","a.b":"dots"},"parts":{"P 1":{"email":"p@1"}},"_etag":"v1"}`,
		},
		{
			name: "A13: and those of other keys the names that they are written with", returns: "Article",
			result:  article{Counts: map[int]int{1: 2, -7: 8, 3: 4}, Version: "v1"},
			request: `{"fields":["counts.1","counts.01","counts.-7"]}`, want: `{"counts":{"-7":8,"1":2},"_etag":"v1"}`,
		},
		{
			name:    "names that no field has are unknown where entries may have them",
			request: `{"fields":["Title","title"]}`, want: `{"title":"T","_etag":"v1"}`, unknown: []string{"Title"},
		},
		{
			name: "a field that is absent is left out", request: `{"fields":["body","title"]}`,
			want: `{"title":"T","_etag":"v1"}`,
		},
		{name: "twice is once", request: `{"fields":["title","title"]}`, want: `{"title":"T","_etag":"v1"}`},
		{
			name: "no selection: a single resource is whole", request: `{}`,
			want: `{"id":"a1","title":"T",` +
				`"author":{"name":"Ada","email":"a@b","boss":{"name":"Grace","email":"","boss":null}},"tags":["x"],` +
				`"meta":{"k":"v"},"parts":{"p":{"name":"P","email":"","boss":null}},"at":"0001-01-01T00:00:00Z","_etag":"v1"}`,
		},
		{name: "minimal", request: `{"fields":"minimal"}`, want: `{"id":"a1","title":"T","_etag":"v1"}`},
		{name: "the alias", request: `{"preset":"minimal"}`, want: `{"id":"a1","title":"T","_etag":"v1"}`},
		{
			name: "both are a union", request: `{"preset":"minimal","fields":["tags"]}`,
			want: `{"id":"a1","title":"T","tags":["x"],"_etag":"v1"}`,
		},
		{
			name: "a preset of its own", request: `{"fields":"people"}`,
			want: `{"id":"a1","author":{"name":"Ada","email":"a@b","boss":{"name":"Grace","email":"","boss":null}},` +
				`"_etag":"v1"}`,
		},
		{
			name: "the items of a list", returns: "ArticleList", result: []article{one, {ID: "a2"}},
			request: `{"fields":["id"]}`, want: `{"items":[{"id":"a1","_etag":"v1"},{"id":"a2","_etag":""}]}`,
		},
		{
			name: "no selection: items are standard", returns: "ArticleList", result: []article{{ID: "a2"}}, request: `{}`,
			want: `{"items":[{"id":"a2","title":"","author":null}]}`,
		},
		{
			name: "the items of a page, and its other fields", returns: "Page", result: page{[]article{one}, 7},
			request: `{"fields":["meta.k"]}`, want: `{"items":[{"meta":{"k":"v"},"_etag":"v1"}],"total":7}`,
		},
		{
			name: "what a search finds is minimal", returns: "Page", result: page{[]article{one}, 7}, search: true,
			request: `{}`, want: `{"items":[{"id":"a1","title":"T"}],"total":7}`,
		},
		{
			name:    "an unknown field",
			request: `{"fields":["titel","title","author.nome","title.x","tags.x","meta.","parts.p.nome","_computed.age"]}`,
			want:    `{"title":"T","_etag":"v1"}`,
			unknown: []string{"titel", "author.nome", "title.x", "tags.x", "meta.", "parts.p.nome", "_computed.age"},
		},
		{
			name: "deeper than anything is", request: `{"fields":["title","author.` + strings.Repeat("boss.", 100) + `name"]}`,
			want: `{"title":"T","_etag":"v1"}`, unknown: []string{"author." + strings.Repeat("boss.", 100) + "name"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.result == nil {
				tt.returns, tt.result = "Article", one
			}
			set := codec.NewSet(articleTypes)
			decoder := choosingRequest(t, set, "minimal", "standard", "full", "people")
			result, err := set.Result(reflect.TypeOf(tt.result), tt.returns)
			if err != nil {
				t.Fatal(err)
			}
			selector, err := set.Selector(decoder, result, tt.search)
			if err != nil {
				t.Fatal(err)
			}
			request, r := readChoosing(decoder, tt.request)
			if !r.OK() {
				t.Fatal(refusal(r))
			}
			chosen, unknown := selector.Select(unsafe.Pointer(&request), nil)
			w := wire.NewWriter(nil)
			result.Write(w, tt.result, chosen.Subset)
			if diff := cmp.Diff(tt.want, string(w.Bytes())); diff != "" || !slices.Equal(unknown, tt.unknown) {
				t.Errorf("unknown %q, written (-want +got):\n%s", unknown, diff)
			}
		})
	}
}

func readChoosing(decoder *codec.Request, text string) (choosing, *wire.Reader) {
	var request choosing
	var given codec.Given
	r := wire.NewReader(text, wire.Limits{})
	r.Object()
	for more := true; more; {
		_, more = decoder.Next(r, unsafe.Pointer(&request), &given)
	}
	decoder.Complete(r, unsafe.Pointer(&request), &given)
	return request, r
}

// REQ-FS-08, REQ-FS-09: what is no selection is refused with what is wrong.
func TestWhatIsNoSelection(t *testing.T) {
	decoder := choosingRequest(t, codec.NewSet(articleTypes), "minimal", "full")
	for text, want := range map[string]string{
		`{"fields":"tiny"}`:              `fields: enum "minimal|full"`,
		`{"preset":"tiny"}`:              `preset: enum "minimal|full"`,
		`{"fields":7}`:                   "fields: expected string | string[], got number",
		`{"fields":{"title":1}}`:         "fields: expected string | string[], got object",
		`{"fields":[]}`:                  "fields: min_items 1",
		`{"fields":["title",7]}`:         "fields[1]: expected string, got number",
		`{"fields":["Title"]}`:           `fields[0]: pattern ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`,
		`{"fields":["a..b"]}`:            `fields[0]: pattern ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`,
		`{"fields":["a."]}`:              `fields[0]: pattern ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`,
		`{"fields":[""]}`:                `fields[0]: pattern ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`,
		`{"fields":["_etag"]}`:           "", // A15
		`{"fields":["_tag"]}`:            `fields[0]: pattern ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`,
		`{"fields":["_computed.Age"]}`:   `fields[0]: pattern ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`,
		`{"fields":["_computed.a","b"]}`: "",
	} {
		_, r := readChoosing(decoder, text)
		got := ""
		if err := refusal(r); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// BenchmarkSelection writes two of the fields of a resource, beside all of them and beside what a filter behind
// encoding/json costs.
func BenchmarkSelection(b *testing.B) {
	set := codec.NewSet(articleTypes)
	decoder := choosingRequest(b, set, "minimal", "full")
	result, err := set.Result(reflect.TypeFor[[]article](), "ArticleList")
	if err != nil {
		b.Fatal(err)
	}
	selector, err := set.Selector(decoder, result, false)
	if err != nil {
		b.Fatal(err)
	}
	all := make([]article, 25)
	for i := range all {
		all[i] = article{
			ID: "a1", Title: "Write the report", Body: strings.Repeat("text ", 20), Author: &author{Name: "Ada"},
			Tags: []string{"x", "y"}, Meta: map[string]string{"k": "v"}, At: time.Now(),
		}
	}
	buffer := make([]byte, 0, 64<<10)
	write := func(b *testing.B, text string) {
		w := wire.NewWriter(nil)
		request, _ := readChoosing(decoder, text)
		for b.Loop() {
			chosen, _ := selector.Select(unsafe.Pointer(&request), nil)
			w.Reset(buffer)
			result.Write(w, all, chosen.Subset)
		}
	}
	b.Run("two", func(b *testing.B) { write(b, `{"fields":["id","title"]}`) })
	b.Run("all", func(b *testing.B) { write(b, `{"fields":"full"}`) })
	b.Run("filter", func(b *testing.B) {
		for b.Loop() {
			text, err := json.Marshal(all)
			if err != nil {
				b.Fatal(err)
			}
			var values []any
			if err := json.Unmarshal(text, &values); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(filtered(values, []string{"ID", "Title"})); err != nil {
				b.Fatal(err)
			}
		}
	})
}
