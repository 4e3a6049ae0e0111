package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'self'; img-src 'self' data:">`

// before and after stand around the body of each page of these tests.
const (
	before = `<!DOCTYPE html><html lang="en"><head><title>Notes</title>` + policy + `</head><body>`
	after  = `</body></html>`
)

// built is a small site without a fault.
func built() map[string]string {
	return map[string]string{
		"index.html": before + `<h1 id="notes">Notes</h1><a href="/docs/">All</a> ` +
			`<a href="docs/tags.html#keys">Keys</a>` + after,
		"docs/index.html": before + `<h1>All</h1><a href="./tags.html">Tags</a> <a href="/">Notes</a>` +
			`<a href="https://example.com/elsewhere">Elsewhere</a>` + after,
		"docs/tags.html": before + `<h1 id="tags">Tags</h1><h2 id="keys">Keys</h2><a id="required"></a>` +
			`<code>req<wbr>uired</code><a href="#keys">¶</a>` +
			`<img src="/docs/a%20picture.png" alt="A picture"><a href="` + source + `blob/main/LICENSE">Licence</a>` +
			`<a href="` + source + `tree/main/docs">Source</a><a href="` + source + `issues">Issues</a>` + after,
		"docs/a picture.png": "",
		"404.html":           before + `Not found` + after,
		"style.css": `a { background: url(data:image/svg+xml,none) } ` +
			`@font-face { src: url("/font.woff2") }`,
		"assets/chunks/@localSearchIndexroot.js": `{"0":"/#notes","1":"/docs/#all","2":"/docs/tags.html#keys"}`,
	}
}

// tags is the document of docs/tags.html.
const tags = "# Tags\n\n## Keys\n\n| key | |\n|---|---|\n| <a id=\"required\"></a>`required` | a value |\n\n" +
	"```sh\n# no heading\n| `no_row` |\n```\n"

// checked returns the faults of a site, with a repository that has two documents.
func checked(t *testing.T, texts map[string]string) []string {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range texts {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	return s.check(fstest.MapFS{"docs/README.md": {}, "docs/tags.md": {Data: []byte(tags)}, "LICENSE": {}})
}

func TestSiteWithoutFaults(t *testing.T) {
	if faults := checked(t, built()); len(faults) > 0 {
		t.Errorf("faults:\n%s", strings.Join(faults, "\n"))
	}
}

// Each change of a site without a fault is one, and is named.
func TestFaultsOfSites(t *testing.T) {
	tests := []struct {
		change        string
		file, at, now string // now takes the place of at
		want          string
	}{
		{"a link to a page that is not there", "index.html", "tags.html#keys", "tag.html",
			"index.html: docs/tag.html leads nowhere\nthe site: the first page does not lead to docs/tags.html"},
		{"a link to a heading that is not there", "index.html", "#keys", "#values",
			"index.html: docs/tags.html has no #values"},
		{"a link to a heading of the page itself", "docs/tags.html", `"#keys"`, `"#key"`,
			"docs/tags.html: docs/tags.html has no #key"},
		{"a heading that is left out", "docs/tags.html", `<h1 id="tags">`, `<h1>`,
			"the site: docs/tags.html lacks the heading Tags"},
		{"a place that is left out", "docs/tags.html", `id="required"`, "",
			"the site: docs/tags.html lacks the place required"},
		{"a row that is left out", "docs/tags.html", `<code>req<wbr>uired</code>`, "",
			"the site: docs/tags.html lacks the row of required"},
		{"a link that is none", "docs/tags.html", `"#keys"`, `"%zz"`, "docs/tags.html: %zz is no link"},
		{"a picture that is not there", "docs/tags.html", "a%20picture", "another",
			"docs/tags.html: /docs/another.png leads nowhere"},
		{"a picture without a text", "docs/tags.html", ` alt="A picture"`, "",
			"docs/tags.html: 1 pictures have no text in place of them"},
		{"a link to a file that the repository lacks", "docs/tags.html", "main/LICENSE", "main/LICENCE",
			"docs/tags.html: the repository has no file at LICENCE"},
		{"a link to a folder as to a file", "docs/tags.html", "tree/main", "blob/main",
			"docs/tags.html: the repository has no file at docs"},
		{"a picture of another host", "docs/tags.html", `src="/docs/a%20picture.png"`, `src="//example.com/x.png"`,
			"docs/tags.html: it loads //example.com/x.png"},
		{"a script of another host", "index.html", "<body>", `<body><script src="https://example.com/x.js"></script>`,
			"index.html: it loads https://example.com/x.js"},
		{"a font of another host in a link", "index.html", "</head>",
			`<link rel="preload" href="https://example.com/x.woff2"></head>`,
			"index.html: it loads https://example.com/x.woff2"},
		{"a font of another host in a style sheet", "style.css", "/font.woff2", "https://example.com/font.woff2",
			"style.css: it loads https://example.com/font.woff2"},
		{"a style sheet of another host", "style.css", "a {", `@import "//example.com/x.css"; a {`,
			"style.css: it loads //example.com/x.css"},
		{"a style of an element", "index.html", "<h1 ", `<h1 style="background: url('https://example.com/x.png')" `,
			"index.html: a style loads https://example.com/x.png"},
		{"a page without a policy", "index.html", policy, "", "index.html: its policy lets it load from other hosts"},
		{"a policy that names a host", "index.html", "img-src 'self'", "img-src https://example.com",
			"index.html: its policy lets it load from other hosts"},
		{"a page without its language", "index.html", ` lang="en"`, "", "index.html: it does not say its language"},
		{"a page without a title", "index.html", "<title>Notes</title>", "", "index.html: it has no title"},
		{"a page with two titles", "docs/tags.html", `<h2 id="keys">Keys</h2>`, `<h1 id="keys">Keys</h1>`,
			"docs/tags.html: it has 2 headings of the first level"},
		{"a page that the search does not know", "assets/chunks/@localSearchIndexroot.js", "/docs/tags.html#keys", "",
			"the site: the search does not know /docs/tags.html"},
	}
	for _, test := range tests {
		t.Run(test.change, func(t *testing.T) {
			texts := built()
			if strings.Count(texts[test.file], test.at) != 1 {
				t.Fatalf("%s has %q %d times", test.file, test.at, strings.Count(texts[test.file], test.at))
			}
			texts[test.file] = strings.Replace(texts[test.file], test.at, test.now, 1)
			if diff := cmp.Diff(test.want, strings.Join(checked(t, texts), "\n")); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// A document that was not built, and a site without a first page, are faults.
func TestPagesThatAreNotBuilt(t *testing.T) {
	for file, want := range map[string]string{
		"docs/tags.html": "the site: docs/tags.md is not on it",
		"index.html":     "the site: it has no first page",
	} {
		texts := built()
		delete(texts, file)
		if faults := strings.Join(checked(t, texts), "\n"); !strings.Contains(faults, want) {
			t.Errorf("without %s the faults are\n%s", file, faults)
		}
	}
}
