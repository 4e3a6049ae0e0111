package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// GOFLAGS is read for its build tags; flags that may change what is loaded are unusual.
func TestTagsOf(t *testing.T) {
	tests := map[string]struct {
		tags []string
		ok   bool
	}{
		"":                              {nil, true},
		"-mod=mod":                      {nil, true},
		"-mod=readonly -buildvcs=false": {nil, true},
		"-tags=a,b":                     {[]string{"a", "b"}, true},
		"--tags=a -tags=b":              {[]string{"b"}, true},
		"-tags=":                        {nil, true},
		"-mod=vendor":                   {nil, false},
		"-overlay=x.json":               {nil, false},
		"-modfile=x.mod":                {nil, false},
		"-race":                         {nil, false},
		"'-tags=a b'":                   {nil, false},
		"-toolexec=x":                   {nil, false},
		"-compiler=gccgo":               {nil, false},
	}
	for flags, tt := range tests {
		tags, err := tagsOf(flags, false)
		if (err == nil) != tt.ok || !slices.Equal(tags, tt.tags) {
			t.Errorf("%q: got %q, %v", flags, tags, err)
		}
	}
}

func TestMinorVersion(t *testing.T) {
	for version, want := range map[string]int{"go1.26": 26, "go1.26.8": 26, "go1.27rc1": 27, "go1.26.8-custom": 26} {
		if got, err := minorVersion(version); err != nil || got != want {
			t.Errorf("%s: got %d, %v", version, got, err)
		}
	}
	for _, version := range []string{"", "go2", "go1.27-devel_abc", "devel go1.27-abc", "1.26"} {
		if got, err := minorVersion(version); err == nil {
			t.Errorf("%s: got %d", version, got)
		}
	}
}

func TestMayImport(t *testing.T) {
	tests := []struct {
		importer, imported string
		want               bool
	}{
		{"example.com/app", "example.com/other", true},
		{"example.com/app", "example.com/app/internal/x", true},
		{"example.com/app/a", "example.com/app/internal/x", true},
		{"example.com/app/a/b", "example.com/app/internal", true},
		{"example.com/apple", "example.com/app/internal", false},
		{"example.com/app", "internal/abi", false},
		{"example.com/app", "example.com/app/internal/a/internal/b", false},
		{"example.com/app/internal/a", "example.com/app/internal/a/internal/b", true},
		{"example.com/app", "example.com/internals", true},
	}
	for _, tt := range tests {
		if got := MayImport(tt.importer, tt.imported); got != tt.want {
			t.Errorf("%s importing %s: got %t", tt.importer, tt.imported, got)
		}
	}
}

// inOrder runs what an item needs before it, whatever the graph, and finds cycles.
func TestInOrder(t *testing.T) {
	graph := map[int][]int{0: {1, 2}, 1: {3}, 2: {3}, 3: nil, 4: {0, 3}, 5: nil}
	items := []int{0, 1, 2, 3, 4, 5}
	done := make(chan int, len(items))
	if err := inOrder(t.Context(), items, func(i int) []int { return graph[i] }, func(i int) { done <- i }); err != nil {
		t.Fatal(err)
	}
	close(done)
	var order []int
	for i := range done {
		for _, needed := range graph[i] {
			if !slices.Contains(order, needed) {
				t.Errorf("%d ran before %d", i, needed)
			}
		}
		order = append(order, i)
	}
	if len(order) != len(items) {
		t.Errorf("ran %v", order)
	}
	graph[3] = []int{4}
	if inOrder(t.Context(), items, func(i int) []int { return graph[i] }, func(int) {}) == nil {
		t.Error("a cycle was not noticed")
	}
}

// Exported declarations that only cgo could type are found wherever they hide; unexported ones do no harm.
func TestMentionsC(t *testing.T) {
	for source, want := range map[string]bool{
		"func f() C.int":                               false,
		"type t struct{ x C.int }":                     false,
		"var X int":                                    false,
		"func F(int) C.int":                            true,
		"func F(*C.int)":                               true,
		"type T struct{ x []C.int }":                   true,
		"type T map[string]C.int":                      true,
		"type t struct{ x C.int }; type T struct{ t }": true,
		"type T int; func (T) M(C.int) {}":             true,
		"type T interface{ M() C.int }":                true,
		"type T = C.int":                               true,
		"var X C.int":                                  true,
		"type T struct { next *T; prev []T }":          false,
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", "package x; import \"C\"; "+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		config := types.Config{FakeImportC: true, IgnoreFuncBodies: true, Error: func(error) {}}
		pkg, _ := config.Check("x", fset, []*ast.File{file}, nil)
		if got := mentionsC(pkg); got != want {
			t.Errorf("%s: got %t", source, got)
		}
	}
}

// A piece of a file is known by name.
func FuzzExportedFile(f *testing.F) {
	f.Add("/a/b.go", 0)
	f.Add("/a/b#1.go", 17)
	f.Add(`C:\a\b.go`, 3)
	f.Fuzz(func(t *testing.T, stem string, piece int) {
		name := stem + ".go"
		if _, _, ok := exportedFile(name); ok {
			t.Errorf("%q is taken for a piece", name)
		}
		if piece < 0 || piece > 1<<20 {
			return
		}
		filename, base, ok := exportedFile(pieceName(name, piece))
		if !ok || filename != name || base != piece*pieceSize {
			t.Errorf("%q piece %d: got %q %d %t", name, piece, filename, base, ok)
		}
	})
}

// Whatever GOFLAGS is, reading it ends, and flags it accepts hold no quotes.
func FuzzTagsOf(f *testing.F) {
	f.Add("-mod=mod -tags=a,b")
	f.Add("'-x y'")
	f.Fuzz(func(t *testing.T, flags string) {
		tags, err := tagsOf(flags, false)
		if err == nil && slices.ContainsFunc(tags, func(tag string) bool { return tag == "" }) {
			t.Errorf("%q: got %q", flags, tags)
		}
	})
}
