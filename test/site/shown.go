package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// What a document has that others refer to: its headings, the names that it gives to places, and the code that begins a
// row of a table, such as a tag, a flag, a key of a policy or the code of a failure.
var (
	heading = regexp.MustCompile(`^#+ +(.+)$`)
	dropped = regexp.MustCompile(`[^\pL\pN _-]`)
	named   = regexp.MustCompile(`<a id="([^"]+)"`)
	row     = regexp.MustCompile("^\\| (?:<a [^>]*></a>)?`([^`]+)` \\|")
)

// unshown returns what the documents of the repository have, and the pages of the site that were built from them have
// not.
func (s *site) unshown(repository fs.FS) []string {
	documents, _ := fs.Glob(repository, "docs/*.md")
	var faults []string
	for _, document := range documents {
		p := s.pages[pageOf(document)]
		text, err := fs.ReadFile(repository, document)
		if p == nil || err != nil {
			continue // unbuilt has said so
		}
		lack := func(what string) { faults = append(faults, fmt.Sprintf("%s lacks %s", pageOf(document), what)) }
		fenced := false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			if match := heading.FindStringSubmatch(line); match != nil {
				slug := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")
				if !p.anchors[slug] {
					lack("the heading " + match[1])
				}
			}
			for _, match := range named.FindAllStringSubmatch(line, -1) {
				if !p.anchors[match[1]] {
					lack("the place " + match[1])
				}
			}
			if match := row.FindStringSubmatch(line); match != nil && !p.codes[match[1]] {
				lack("the row of " + match[1])
			}
		}
	}
	return faults
}
