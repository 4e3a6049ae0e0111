// Package export holds what the exports of definitions share. Each format has a package of its own below this one; all
// of them render what is true of an adapter with standard options, because the options of a process are not part of its
// definitions.
package export

import (
	"fmt"
	"strings"
	"unicode"
)

// File is one file of an export.
type File struct {
	Name    string // relative, with slashes
	Content []byte
}

// FileNames gives names to the files of an export. The zero value is ready for use. Names that differ only in case get
// numbers, in the order of the calls of Of, because some file systems do not distinguish them.
type FileNames struct{ taken map[string]bool }

// Of returns a file name that starts with folder and ends with extension. Between them it has name, with a hyphen in
// place of every character other than an ASCII letter, a digit, "_" and "-".
func (n *FileNames) Of(folder, name, extension string) string {
	if n.taken == nil {
		n.taken = make(map[string]bool)
	}
	base := folder + strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_-", r) {
			return r
		}
		return '-'
	}, name)
	candidate := base
	for i := 2; n.taken[strings.ToLower(candidate)]; i++ {
		candidate = fmt.Sprintf("%s-%d", base, i)
	}
	n.taken[strings.ToLower(candidate)] = true
	return candidate + extension
}
