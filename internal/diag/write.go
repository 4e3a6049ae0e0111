package diag

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/model"
)

// Write prints d for people: `file:line:col: message`, the source line, carets under the bytes that d is about, the
// suggestion and the related places. Files in the directory relativeTo are named relative to it; if it is empty, all
// names are absolute. A source line that cannot be read from disk is left out. The error is that of w.
func (d Diagnostic) Write(w io.Writer, relativeTo string, color bool) error {
	var b strings.Builder
	paint := painter(color)
	b.WriteString(paint.bold(place(d.Position, relativeTo) + ":"))
	b.WriteByte(' ')
	switch d.Severity {
	case Error:
		b.WriteString(paint.red(d.Message))
	default:
		b.WriteString(paint.yellow(string(d.Severity)+":") + " " + d.Message)
	}
	b.WriteByte('\n')
	if line, ok := sourceLine(d.Position); ok {
		b.WriteString(line)
		b.WriteByte('\n')
		indent, carets := underline(line, d.Position.Column, d.EndColumn)
		b.WriteString(indent + paint.red(carets))
		b.WriteByte('\n')
	}
	if d.Suggestion != "" {
		b.WriteString(paint.green("suggestion:") + " " + d.Suggestion + "\n")
	}
	for _, r := range d.Related {
		b.WriteString("\t" + place(r.Position, relativeTo) + ": " + r.Message + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// place is `file:line:col`.
func place(p model.Position, relativeTo string) string {
	file := p.File
	if relativeTo != "" {
		if rel, err := filepath.Rel(relativeTo, file); err == nil && filepath.IsLocal(rel) {
			file = filepath.ToSlash(rel)
		}
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

// sourceLine reads the line of p, without its line end.
func sourceLine(p model.Position) (string, bool) {
	file, err := os.Open(p.File)
	if err != nil {
		return "", false
	}
	defer file.Close()
	reader := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := reader.ReadString('\n')
		if n == p.Line {
			return strings.TrimRight(line, "\r\n"), line != "" || err == nil
		}
		if err != nil {
			return "", false
		}
	}
}

// underline makes the line below a source line: white space up to column, then ^ and ~ up to end. Tabs stay tabs, so
// the carets are under their bytes for any width of tabs.
func underline(line string, column, end int) (indent, carets string) {
	start := min(max(column-1, 0), len(line))
	stop := min(max(end-1, start), len(line))
	indent = strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:start])
	return indent, "^" + strings.Repeat("~", max(utf8.RuneCountInString(line[start:stop])-1, 0))
}

// painter colours text for terminals, or leaves it alone.
type painter bool

func (p painter) bold(s string) string   { return p.wrap("1", s) }
func (p painter) red(s string) string    { return p.wrap("31", s) }
func (p painter) yellow(s string) string { return p.wrap("33", s) }
func (p painter) green(s string) string  { return p.wrap("32", s) }

func (p painter) wrap(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
