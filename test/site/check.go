package main

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// source is where links to files of the repository lead.
const source = "https://github.com/aqltag/aqltag/"

// first is the page at the root of the site, and missing the one that hosts show in place of a page that is not there.
const first, missing = "index.html", "404.html"

// check returns what is wrong with the site, a line each.
func (s *site) check(repository fs.FS) []string {
	var faults []string
	fault := func(name, format string, arguments ...any) {
		faults = append(faults, name+": "+fmt.Sprintf(format, arguments...))
	}
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[name]
		for _, said := range slices.Concat(p.faults(name == missing), s.links(name, p, repository)) {
			fault(name, "%s", said)
		}
		for _, style := range p.styles {
			for _, address := range outside(style) {
				fault(name, "a style loads %s", address)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.styles)) {
		for _, address := range outside(s.styles[name]) {
			fault(name, "it loads %s", address)
		}
	}
	for _, said := range slices.Concat(s.unbuilt(repository), s.unshown(repository), s.unfound(), s.unreached()) {
		fault("the site", "%s", said)
	}
	return faults
}

// faults returns what is wrong with a page by itself.
func (p *page) faults(isMissing bool) []string {
	var faults []string
	if p.language == "" {
		faults = append(faults, "it does not say its language")
	}
	if p.title == "" {
		faults = append(faults, "it has no title")
	}
	if p.headings != 1 && !isMissing {
		faults = append(faults, fmt.Sprintf("it has %d headings of the first level", p.headings))
	}
	if p.unnamed > 0 {
		faults = append(faults, fmt.Sprintf("%d pictures have no text in place of them", p.unnamed))
	}
	if !strings.HasPrefix(p.policy, "default-src 'self';") || strings.Contains(p.policy, "//") {
		faults = append(faults, "its policy lets it load from other hosts")
	}
	for _, address := range p.loads {
		if isOutside(address) {
			faults = append(faults, "it loads "+address)
		}
	}
	return faults
}

// links returns what is wrong with the links of a page, and with what it loads from the site.
func (s *site) links(name string, p *page, repository fs.FS) []string {
	var faults []string
	for _, address := range slices.Concat(p.links, p.loads) {
		if file, found := strings.CutPrefix(address, source); found {
			if said := inRepository(file, repository); said != "" {
				faults = append(faults, said)
			}
			continue
		}
		if isOutside(address) || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "mailto:") {
			continue
		}
		to, fragment, err := resolve(name, address)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case !s.files[to]:
			faults = append(faults, fmt.Sprintf("%s leads nowhere", address))
		case fragment != "" && s.pages[to] != nil && !s.pages[to].anchors[fragment]:
			faults = append(faults, fmt.Sprintf("%s has no #%s", to, fragment))
		}
	}
	return faults
}

// resolve returns the file of the site that a link on a page leads to, and its fragment.
func resolve(name, address string) (file, fragment string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", fmt.Errorf("%s is no link", address)
	}
	switch {
	case u.Path == "":
		file = name
	case strings.HasPrefix(u.Path, "/"):
		file = strings.TrimPrefix(path.Clean(u.Path), "/")
	default:
		file = path.Join(path.Dir(name), u.Path)
	}
	if file == "" || strings.HasSuffix(u.Path, "/") {
		file = path.Join(file, "index.html")
	}
	return file, u.Fragment, nil
}

// inRepository returns what is wrong with a link to the source, such as blob/main/LICENSE.
func inRepository(link string, repository fs.FS) string {
	link, _, _ = strings.Cut(link, "#")
	kind, file, found := strings.Cut(link, "/main/")
	if !found {
		return ""
	}
	info, err := fs.Stat(repository, file)
	if err != nil || info.IsDir() != (kind == "tree") {
		return fmt.Sprintf("the repository has no %s at %s", map[string]string{"tree": "folder", "blob": "file"}[kind], file)
	}
	return ""
}

// unbuilt returns the documents of the repository that the site does not have.
func (s *site) unbuilt(repository fs.FS) []string {
	documents, err := fs.Glob(repository, "docs/*.md")
	if err != nil || len(documents) == 0 {
		return []string{"the repository has no documents"}
	}
	var faults []string
	for _, document := range documents {
		if s.pages[pageOf(document)] == nil {
			faults = append(faults, document+" is not on it")
		}
	}
	return faults
}

// pageOf is where the site has a document.
func pageOf(document string) string {
	if document == "docs/README.md" {
		return "docs/index.html"
	}
	return strings.TrimSuffix(document, ".md") + ".html"
}

// unfound returns the pages that the search does not know.
func (s *site) unfound() []string {
	var index strings.Builder
	for _, text := range s.index {
		index.WriteString(text)
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		address := "/" + strings.TrimSuffix(name, "index.html")
		if name != missing && !strings.Contains(index.String(), `"`+address+`#`) {
			faults = append(faults, "the search does not know "+address)
		}
	}
	return faults
}

// unreached returns the documents that the first page does not lead to by a link of its own.
func (s *site) unreached() []string {
	begin := s.pages[first]
	if begin == nil {
		return []string{"it has no first page"}
	}
	led := map[string]bool{}
	for _, address := range begin.links {
		if to, _, err := resolve(first, address); err == nil {
			led[to] = true
		}
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		if path.Dir(name) == "docs" && !led[name] {
			faults = append(faults, "the first page does not lead to "+name)
		}
	}
	return faults
}

var loaded = regexp.MustCompile(`(?:url\(|@import)\s*["']?([^"')\s]+)`)

// outside returns what a style sheet loads from other hosts.
func outside(style string) []string {
	var addresses []string
	for _, match := range loaded.FindAllStringSubmatch(style, -1) {
		if isOutside(match[1]) {
			addresses = append(addresses, match[1])
		}
	}
	return addresses
}

// isOutside reports whether an address is one of another host. Those in the page itself, data:, are not.
func isOutside(address string) bool {
	return strings.HasPrefix(address, "//") || strings.Contains(address, "://")
}
