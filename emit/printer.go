package emit

import "strings"

// printer appends lines of Go source that are laid out as gofmt lays them out.
type printer struct {
	text   []byte
	indent int
}

// line writes one line, made of parts; without parts, an empty one.
func (p *printer) line(parts ...string) {
	if len(parts) > 0 {
		for range p.indent {
			p.text = append(p.text, '\t')
		}
	}
	for _, part := range parts {
		p.text = append(p.text, part...)
	}
	p.text = append(p.text, '\n')
}

// open writes a line and indents what follows.
func (p *printer) open(parts ...string) {
	p.line(parts...)
	p.indent++
}

// shut ends what open began.
func (p *printer) shut(parts ...string) {
	p.indent--
	p.line(parts...)
}

// comment writes a doc comment, wrapped as the rest of the code is.
func (p *printer) comment(text string) {
	const width = 110
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			p.line("// ", line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	p.line("// ", line)
}

// column is a line of two cells, such as a struct field and its type, or a key and its value. Neighbouring columns
// align, except across one whose right side takes several lines.
type column struct {
	left, right string
	more        bool // the right cell goes on with other keys and values, which ends a run
}

// columns writes lines of two cells with the alignment of gofmt: a run of lines shares the width of its widest left
// cell. A line without a right cell (an embedded field) or with a right cell of several lines stands alone. Right cells
// of several lines are indented already, and end says what follows every line.
func (p *printer) columns(rows []column, end string) {
	for len(rows) > 0 {
		run := 1
		for run < len(rows) && !rows[run-1].alone() && !rows[run-1].more && !rows[run].alone() {
			run++
		}
		width := 0
		for _, row := range rows[:run] {
			if !row.alone() {
				width = max(width, len(row.left))
			}
		}
		for _, row := range rows[:run] {
			if row.right == "" {
				p.line(row.left, end)
				continue
			}
			p.line(row.left, strings.Repeat(" ", max(0, width-len(row.left))+1), row.right, end)
		}
		rows = rows[run:]
	}
}

func (c column) alone() bool { return c.right == "" || strings.Contains(c.right, "\n") }

// cut is the text without the indentation of its first line and the last line's end, to stand inside a line.
func (p *printer) cut() string { return strings.Trim(string(p.text), "\t\n") }
