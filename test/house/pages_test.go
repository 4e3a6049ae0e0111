package house_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/serve"
)

// pages returns the Markdown files that people wrote, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, file := range files(t) {
		if !strings.HasSuffix(file, ".md") || strings.Contains(file, "/testdata/") || strings.Contains(file, "/exports/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(repository(t), file))
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	if len(texts) < 15 {
		t.Fatalf("only %d pages were found", len(texts))
	}
	return texts
}

// prose returns the lines of a page that are not in fenced blocks; the others are empty.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			lines[i] = ""
		} else if fenced {
			lines[i] = ""
		}
	}
	return lines
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#+ +(.*)$`)
	dropped = regexp.MustCompile(`[^\pL\pN _-]`)
	named   = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// anchors returns the fragments that a page has.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, line := range prose(text) {
		if match := heading.FindStringSubmatch(line); match != nil {
			slug := dropped.ReplaceAllString(strings.ToLower(match[1]), "")
			found[strings.ReplaceAll(slug, " ", "-")] = true
		}
		for _, match := range named.FindAllStringSubmatch(line, -1) {
			found[match[1]] = true
		}
	}
	return found
}

// Links between files of the repository lead somewhere, those to a heading too.
func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	for file, text := range all {
		for i, line := range prose(text) {
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				target, fragment, _ := strings.Cut(match[1], "#")
				if strings.Contains(target, ":") {
					continue
				}
				to := file
				if target != "" {
					to = path.Join(path.Dir(file), target)
				}
				if _, err := os.Stat(filepath.Join(repository(t), to)); err != nil {
					t.Errorf("%s:%d: %s does not exist", file, i+1, to)
				} else if fragment != "" && strings.HasSuffix(to, ".md") && !anchors(all[to])[fragment] {
					t.Errorf("%s:%d: %s has no heading #%s", file, i+1, to, fragment)
				}
			}
		}
	}
}

// Prose has 120 columns at most. Tables, and lines with a long link, may have more.
func TestProseIsNotTooWide(t *testing.T) {
	for file, text := range pages(t) {
		for i, line := range prose(text) {
			if utf8.RuneCountInString(line) > 120 && !strings.HasPrefix(line, "|") && !strings.Contains(line, "](") &&
				!strings.Contains(line, "://") {
				t.Errorf("%s:%d: %d columns", file, i+1, utf8.RuneCountInString(line))
			}
		}
	}
}

// Every page in docs is in its index, and a page is reached from the README by links.
func TestPagesAreReached(t *testing.T) {
	all := pages(t)
	reached := map[string]bool{}
	var follow func(file string)
	follow = func(file string) {
		if reached[file] {
			return
		}
		reached[file] = true
		for _, line := range prose(all[file]) {
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				target, _, _ := strings.Cut(match[1], "#")
				if to := path.Join(path.Dir(file), target); all[to] != "" {
					follow(to)
				}
			}
		}
	}
	follow("README.md")
	for file := range all {
		if !reached[file] && !strings.HasPrefix(file, ".github/") {
			t.Errorf("no link leads from the README to %s", file)
		}
		if name := path.Base(file); path.Dir(file) == "docs" && name != "README.md" &&
			!strings.Contains(all["docs/README.md"], "("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// The README is read in three minutes.
func TestReadmeIsShort(t *testing.T) {
	if words := len(strings.Fields(pages(t)["README.md"])); words < 500 || words > 700 {
		t.Errorf("README.md has %d words, not 500 to 700", words)
	}
}

// The page about production says of every flag of an adapter what it is for, and of no other.
func TestFlagsAreDocumented(t *testing.T) {
	page := pages(t)["docs/production.md"]
	set := flag.NewFlagSet("adapter", flag.ContinueOnError)
	serve.Flags(set)
	want := map[string]bool{}
	set.VisitAll(func(f *flag.Flag) { want["-"+f.Name] = true })
	_, table, found := strings.Cut(page, "| what for | flags |")
	if !found {
		t.Fatal("docs/production.md does not say what flags are for")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("`(-[a-z-]+)`").FindAllStringSubmatch(table, -1) {
		documented[match[1]] = true
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("docs/production.md (-adapter +documented):\n%s", diff)
	}
}
