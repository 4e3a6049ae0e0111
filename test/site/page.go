package main

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/net/html"
)

// site is what was built: the pages by their paths, such as docs/tags.html, and all files.
type site struct {
	pages map[string]*page
	files map[string]bool
	// styles are the texts of style sheets, and index is the text of the search, by the paths of files.
	styles, index map[string]string
}

// page is what is checked of one page.
type page struct {
	language, title, policy string
	anchors, codes          map[string]bool
	links                   []string // of text, as they are written
	loads                   []string // what the browser asks for by itself: scripts, styles, pictures, frames
	styles                  []string // of elements
	headings                int      // of the first level
	unnamed                 int      // pictures without a text in place of them
}

// read reads a built site.
func read(files fs.FS) (*site, error) {
	s := &site{
		pages: map[string]*page{}, files: map[string]bool{}, styles: map[string]string{}, index: map[string]string{},
	}
	return s, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		s.files[name] = true
		isIndex := strings.Contains(path.Base(name), "localSearchIndex")
		kind := path.Ext(name)
		if kind != ".html" && kind != ".css" && !isIndex {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		switch {
		case err != nil:
			return err
		case kind == ".css":
			s.styles[name] = string(text)
		case isIndex:
			s.index[name] = string(text)
		default:
			p, err := parse(strings.NewReader(string(text)))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			s.pages[name] = p
		}
		return nil
	})
}

// parse reads a page.
func parse(text io.Reader) (*page, error) {
	root, err := html.Parse(text)
	if err != nil {
		return nil, err
	}
	p := &page{anchors: map[string]bool{}, codes: map[string]bool{}}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			p.element(n)
		}
	}
	return p, nil
}

// loading are the elements whose attribute has the browser load something.
var loading = map[string][]string{
	"script": {"src"}, "img": {"src", "srcset"}, "source": {"src", "srcset"}, "iframe": {"src"}, "embed": {"src"},
	"video": {"src", "poster"}, "audio": {"src"}, "track": {"src"}, "object": {"data"}, "input": {"src"},
	"image": {"href"}, "use": {"href"},
}

func (p *page) element(n *html.Node) {
	attributes := map[string]string{}
	for _, a := range n.Attr {
		attributes[a.Key] = a.Val
	}
	if id := attributes["id"]; id != "" {
		p.anchors[id] = true
	}
	if style := attributes["style"]; style != "" {
		p.styles = append(p.styles, style)
	}
	for _, name := range loading[n.Data] {
		if value, has := attributes[name]; has {
			p.loads = append(p.loads, value)
		}
	}
	switch n.Data {
	case "html":
		p.language = attributes["lang"]
	case "title":
		if n.FirstChild != nil && p.title == "" {
			p.title = n.FirstChild.Data
		}
	case "meta":
		if strings.EqualFold(attributes["http-equiv"], "Content-Security-Policy") {
			p.policy = attributes["content"]
		}
	case "link":
		p.loads = append(p.loads, attributes["href"])
	case "style":
		if n.FirstChild != nil {
			p.styles = append(p.styles, n.FirstChild.Data)
		}
	case "a":
		if href, has := attributes["href"]; has {
			p.links = append(p.links, href)
		}
		if name := attributes["name"]; name != "" {
			p.anchors[name] = true
		}
	case "code":
		var text strings.Builder
		for part := range n.Descendants() {
			if part.Type == html.TextNode {
				text.WriteString(part.Data)
			}
		}
		p.codes[text.String()] = true
	case "h1":
		p.headings++
	case "img":
		if _, has := attributes["alt"]; !has {
			p.unnamed++
		}
	}
}
