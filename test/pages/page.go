// Package pages reads the project's Markdown pages, and does what they say.
package pages

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Line int    // of its first line of text
	Kind string // what follows the fence, such as go, sh or text
	Text string // with a newline at its end
}

// Read returns the blocks of a page.
func Read(file string) ([]Block, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var blocks []Block
	open := false
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		kind, fence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case fence && !open:
			blocks = append(blocks, Block{Line: number + 1, Kind: kind})
			open = true
		case fence && kind == "":
			open = false
		case open:
			blocks[len(blocks)-1].Text += line
		}
	}
	if open {
		return nil, fmt.Errorf("%s:%d: the block is not closed", file, blocks[len(blocks)-1].Line)
	}
	return blocks, nil
}

// Shortened returns the regular expression for a text in which … stands for anything left out.
func Shortened(text string) *regexp.Regexp {
	parts := strings.Split(strings.TrimSpace(text), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`(?s)` + strings.Join(parts, ".*"))
}
