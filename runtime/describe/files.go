package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode"
)

// File is one file of an export.
type File struct {
	Name    string // relative, with slashes
	Content []byte
}

// Files lists every answer of introspect as a file: operations.json, types.json, operations/NAME.json and types/NAME.json, in
// the order of the lists. Each holds one response, indented so that changes of it are easy to read.
func (i *Introspection) Files() []File {
	files := []File{{"operations.json", indented(i.operations)}, {"types.json", indented(i.types)}}
	var names FileNames
	for _, name := range i.operationNames {
		files = append(files, File{names.Of("operations/", name, ".json"), indented(i.operation[name])})
	}
	for _, name := range i.typeNames {
		files = append(files, File{names.Of("types/", name, ".json"), indented(i.typ[name])})
	}
	return files
}

func indented(answer []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "", "  "); err != nil {
		return answer // it is JSON: Introspect has written it
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// FileNames gives names to the files of an export. The zero value is ready for use. Names that differ only in case, which
// some file systems do not tell apart, are numbered in the order in which they come.
type FileNames struct{ taken map[string]bool }

// Of is the name of the file about what is called name, between folder and extension.
func (n *FileNames) Of(folder, name, extension string) string {
	if n.taken == nil {
		n.taken = make(map[string]bool)
	}
	safe := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_-", r) {
			return r
		}
		return '-'
	}, name)
	for candidate := range candidates(folder + safe) {
		if folded := strings.ToLower(candidate); !n.taken[folded] {
			n.taken[folded] = true
			return candidate + extension
		}
	}
	return "" // there is always another candidate
}

// candidates are base, base-2, base-3 and so on.
func candidates(base string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(base) {
			return
		}
		for i := 2; yield(fmt.Sprintf("%s-%d", base, i)); i++ {
		}
	}
}
