package propose

import (
	"bytes"
	"go/ast"
	"strings"
	"testing"
)

// Whatever a file looks like, inserting directives adds whole comment lines and nothing else: without them, the bytes
// are those that were there before, and every function has its directives in its doc comment.
func FuzzInsertion(f *testing.F) {
	for _, source := range []string{
		"package p\n\n// F.\nfunc F() {}\n",
		"package p\r\n\r\n// F.\r\n//go:x y\r\nfunc F() {}\r\n\r\n\tfunc (t *T[K]) G() {}",
		"package p; func F() {}; func G() {}\n/* a\nb */ func H() {}\n// c\n/* d */ func I() {}\nvar x = `\nfunc J() {}`\n",
		"package p\n//line a.go:7\nfunc F() {} // trailing\nfunc F() {}\n//aql:op category=READ\nfunc (T) F() {}\n",
	} {
		f.Add([]byte(source))
	}
	lines := []string{"//aql:op category=READ,danger=safe,ids=zzz", "//aql:param zzz required"}
	f.Fuzz(func(t *testing.T, source []byte) {
		if bytes.Contains(source, []byte("zzz")) {
			return
		}
		e := parseEditable(source)
		if e.file == nil {
			return
		}
		var candidates []Candidate
		var insertions []insertion
		for _, decl := range e.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			at := site{name: fn.Name.Name, receiver: declaredReceiver(fn), line: e.line(fn.Name.Pos())}
			in, err := e.insertion(at, lines)
			if err != nil || e.find(at) != fn {
				continue
			}
			insertions = append(insertions, in)
			candidates = append(candidates, Candidate{Function: at.name, Directives: lines, site: at})
		}
		content := apply(source, insertions)
		if err := confirm(content, candidates); err != nil {
			return // Write refuses it
		}
		removed := content
		for _, in := range insertions {
			for line := range strings.Lines(in.text) {
				if trimmed := strings.TrimSpace(line); !strings.HasPrefix(trimmed, "//") || !strings.HasSuffix(line, "\n") {
					t.Fatalf("%q is no comment line", line)
				}
			}
			i := bytes.Index(removed, []byte(in.text))
			if i < 0 || i > 0 && removed[i-1] != '\n' {
				t.Fatalf("%q is not inserted at the start of a line", in.text)
			}
			removed = append(bytes.Clone(removed[:i]), removed[i+len(in.text):]...)
		}
		if !bytes.Equal(removed, source) {
			t.Fatalf("without the insertions:\n%q\nbefore:\n%q", removed, source)
		}
	})
}

// English plurals, as far as names of operations need them.
func TestPlurals(t *testing.T) {
	for _, tt := range []struct{ one, many string }{
		{"todo", "todos"}, {"entry", "entries"}, {"key", "keys"}, {"box", "boxes"}, {"branch", "branches"},
		{"class", "classes"}, {"user_list", "user_lists"},
	} {
		if got := plural(tt.one); got != tt.many {
			t.Errorf("plural of %s: %s, want %s", tt.one, got, tt.many)
		}
		if got := singular(tt.many); got != tt.one {
			t.Errorf("singular of %s: %s, want %s", tt.many, got, tt.one)
		}
	}
	for _, noun := range []string{"status", "news", "analysis", "access", ""} {
		if got := singular(noun); got != noun {
			t.Errorf("singular of %s: %s", noun, got)
		}
	}
}
