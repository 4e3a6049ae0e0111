package house_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is one requirement or contradiction of docs/requirements.md.
type entry struct {
	ID    string
	Level string   // MUST, SHOULD or MAY; empty: a contradiction
	Kind  string   // the kind of its mark; empty: it has none
	Names []string // what the mark names: a capability, a reason, or open faults
	Line  int
}

// The kinds of marks.
const (
	notBuilt      = "not built"
	notApplicable = "not applicable"
	open          = "open"
)

var (
	requirementForm   = regexp.MustCompile(`^- <a id="([^"]+)"></a>\*\*(REQ-[A-Z]{2}-\d{2})\*\* ([A-Z]+) \[[^\]]+\] \S`)
	contradictionForm = regexp.MustCompile(`^- <a id="([^"]+)"></a>\*\*(T-\d{2,3})()\b`)
	markForm          = regexp.MustCompile(` — \*\*([^*:]+): ([^*]+)\*\*$`)
	rowForm           = regexp.MustCompile(`^\| ([^|]+) \|`)
)

// document is docs/requirements.md as far as it is not prose.
type document struct {
	Entries []entry
	Tables  map[string][]string // the names in the first column of the table of not built, and of open
	Faults  []string
}

// parseRequirements reads docs/requirements.md.
func parseRequirements(text string) document {
	d := document{Tables: make(map[string][]string)}
	section, item, start := "", "", 0
	finish := func() {
		if item != "" && (section == "Requirements" || section == "Contradictions") {
			d.entry(item, start)
		}
		item = ""
	}
	for i, line := range strings.Split(text, "\n") {
		title, isTitle := strings.CutPrefix(line, "## ")
		switch {
		case isTitle:
			finish()
			_, section, _ = strings.Cut(title, ". ")
		case strings.HasPrefix(line, "- "):
			finish()
			item, start = line, i+1
		case item != "" && strings.HasPrefix(line, "  "):
			item += " " + strings.TrimSpace(line)
		default:
			finish()
			row := rowForm.FindStringSubmatch(line)
			kind := strings.ToLower(section)
			if row != nil && (kind == notBuilt || kind == open) && row[1] != "---" {
				d.Tables[kind] = append(d.Tables[kind], row[1])
			}
		}
	}
	finish()
	d.checkNames()
	return d
}

// entry reads one list item.
func (d *document) entry(item string, line int) {
	fault := func(format string, args ...any) {
		d.Faults = append(d.Faults, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
	}
	form := requirementForm.FindStringSubmatch(item)
	if form == nil {
		form = contradictionForm.FindStringSubmatch(item)
	}
	if form == nil {
		fault("neither a requirement nor a contradiction: %.60s", item)
		return
	}
	e := entry{ID: form[2], Level: form[3], Line: line}
	if form[1] != strings.ToLower(e.ID) {
		fault("the anchor of %s is %q", e.ID, form[1])
	}
	if strings.HasPrefix(e.ID, "REQ-") && !slices.Contains([]string{"MUST", "SHOULD", "MAY"}, e.Level) {
		fault("%s has the level %s", e.ID, e.Level)
	}
	if slices.ContainsFunc(d.Entries, func(other entry) bool { return other.ID == e.ID }) {
		fault("%s is there twice", e.ID)
	}
	if mark := markForm.FindStringSubmatch(item); mark != nil {
		e.Kind, e.Names = mark[1], []string{mark[2]}
		if e.Kind == open {
			e.Names = strings.Split(mark[2], ", ")
		}
		if !slices.Contains([]string{notBuilt, notApplicable, open}, e.Kind) {
			fault("%s has an unknown mark: %s", e.ID, e.Kind)
		}
	} else if strings.Contains(item, "— **") {
		fault("%s has a mark that is not at its end, or not in its form", e.ID)
	}
	d.Entries = append(d.Entries, e)
}

// checkNames holds marks and tables against each other.
func (d *document) checkNames() {
	for _, kind := range []string{notBuilt, open} {
		used := make(map[string]bool)
		for _, e := range d.Entries {
			for _, name := range e.Names {
				if e.Kind != kind {
					continue
				}
				used[name] = true
				if !slices.Contains(d.Tables[kind], name) {
					d.Faults = append(d.Faults,
						fmt.Sprintf("line %d: %s is marked %s: %s, which its table lacks", e.Line, e.ID, kind, name))
				}
			}
		}
		for _, name := range d.Tables[kind] {
			if !used[name] && name != "name" && name != "capability" {
				d.Faults = append(d.Faults, fmt.Sprintf("no entry is marked %s: %s", kind, name))
			}
		}
	}
}

// requirements is docs/requirements.md.
func requirements(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	return parseRequirements(string(text))
}

// Every entry has an anchor, an id of its own, a level, and a mark that can be looked up.
func TestRequirementsAreWellFormed(t *testing.T) {
	d := requirements(t)
	for _, fault := range d.Faults {
		t.Error(fault)
	}
	if len(d.Entries) < 500 {
		t.Errorf("found only %d entries", len(d.Entries))
	}
}

// What is wrong with the document is found.
func TestFaultsOfRequirementsAreFound(t *testing.T) {
	const tables = "\n## 4. Not built\n\n| capability | what |\n|---|---|\n| flight | wings |\n\n## 5. Open\n\n| name " +
		"| what |\n|---|---|\n| A1 | a fault |\n"
	const marked = "- <a id=\"t-01\"></a>**T-01 A title.** Text. — **open: A1**\n- <a id=\"t-02\"></a>**T-02** Text\n  " +
		"goes on. — **not built:\n  flight**\n"
	for _, tt := range []struct{ name, items, want string }{
		{"sound", "", ""},
		{"no anchor", "- **T-03** Text.\n", "line 8: neither a requirement nor a contradiction: - **T-03** Text."},
		{"another's anchor", "- <a id=\"t-04\"></a>**T-03** Text.\n", `line 8: the anchor of T-03 is "t-04"`},
		{"twice", "- <a id=\"t-01\"></a>**T-01** Text.\n", "line 8: T-01 is there twice"},
		{"a level that is none", "- <a id=\"req-rf-01\"></a>**REQ-RF-01** MIGHT [core §1] Text.\n",
			"line 8: REQ-RF-01 has the level MIGHT"},
		{"no source", "- <a id=\"req-rf-01\"></a>**REQ-RF-01** MUST Text.\n",
			"line 8: neither a requirement nor a contradiction: - <a id=\"req-rf-01\"></a>**REQ-RF-01** MUST Text."},
		{"a mark that is none", "- <a id=\"t-03\"></a>**T-03** Text. — **opne: A1**\n",
			"line 8: T-03 has an unknown mark: opne"},
		{"a mark within", "- <a id=\"t-03\"></a>**T-03** Text. — **open: A1** More.\n",
			"line 8: T-03 has a mark that is not at its end, or not in its form"},
		{"an unknown fault", "- <a id=\"t-03\"></a>**T-03** Text. — **open: A1, A2**\n",
			"line 8: T-03 is marked open: A2, which its table lacks"},
		{"an unknown capability", "- <a id=\"t-03\"></a>**T-03** Text. — **not built: wheels**\n",
			"line 8: T-03 is marked not built: wheels, which its table lacks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := parseRequirements("## 2. Contradictions\n\n" + marked + "\n" + tt.items + tables)
			if got := strings.Join(d.Faults, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	d := parseRequirements("## 2. Contradictions\n\n" + strings.Replace(marked, "open: A1", "not built: flight", 1) +
		tables)
	if diff := cmp.Diff([]string{"no entry is marked open: A1"}, d.Faults); diff != "" {
		t.Error(diff)
	}
}

var (
	idForm    = regexp.MustCompile(`\b(REQ-[A-Za-z0-9]+(?:-[A-Za-z0-9]+)?|T-\d+)\b`)
	rangeForm = regexp.MustCompile(`\b(REQ-[A-Z]{2}-\d{2}|T-\d{2,3})(…|\.\.+|–| to | through )(REQ-|T-)?\d*`)
)

// inText reports whether ids in a file are references to requirements.
func inText(file string) bool {
	switch filepath.Ext(file) {
	case ".go", ".md", ".txt", ".txtar", ".json", ".sh", ".mjs", ".yml", ".yaml", ".golden":
		return true
	}
	return filepath.Base(file) == "Makefile" || filepath.Base(file) == "run"
}

// isTest reports whether an id in a file means that the file tests the requirement. This file names ids as examples.
func isTest(file string) bool {
	return file != "test/house/requirements_test.go" &&
		(strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".txtar") ||
			strings.Contains(file, "/testdata/script/"))
}

// references returns the places of the ids in the files of the repository, and where ranges of ids stand.
func references(t *testing.T) (places map[string][]string, ranges []string) {
	t.Helper()
	root := repository(t)
	places = make(map[string][]string)
	for _, file := range files(t) {
		if !inText(file) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range idForm.FindAllString(string(text), -1) {
			if !slices.Contains(places[id], file) {
				places[id] = append(places[id], file)
			}
		}
		if isTest(file) {
			for _, found := range rangeForm.FindAllString(string(text), -1) {
				ranges = append(ranges, file+": "+found)
			}
		}
	}
	return places, ranges
}

// No code, test or document names a requirement that does not exist.
func TestReferencesExist(t *testing.T) {
	known := map[string]bool{"REQ-XX-nn": true} // the placeholder that documents use
	for _, e := range requirements(t).Entries {
		known[e.ID] = true
	}
	places, _ := references(t)
	for id, files := range places {
		if !known[id] {
			t.Errorf("there is no requirement %s, which %s names", id, strings.Join(files, ", "))
		}
	}
}

// A16, A17: every requirement has a verdict: a test cites it, or it carries a mark that says why not. A mark that says
// that nothing is there is not contradicted by a test.
func TestEveryRequirementHasAVerdict(t *testing.T) {
	places, ranges := references(t)
	for _, found := range ranges {
		t.Errorf("%s: cite each requirement, not a range", found)
	}
	count := 0
	for _, e := range requirements(t).Entries {
		if e.Level == "" { // a contradiction
			continue
		}
		count++
		if fault := verdict(e, places[e.ID]); fault != "" {
			t.Errorf("docs/requirements.md:%d: %s", e.Line, fault)
		}
	}
	if count < 417 {
		t.Errorf("there are %d requirements of 417", count)
	}
}

// verdict returns what is wrong with the verdict on a requirement that files refer to; empty: nothing.
func verdict(e entry, files []string) string {
	i := slices.IndexFunc(files, isTest)
	switch {
	case i < 0 && e.Kind == "":
		return fmt.Sprintf("no test cites %s (%s), and no mark says why", e.ID, e.Level)
	case i >= 0 && (e.Kind == notBuilt || e.Kind == notApplicable):
		return fmt.Sprintf("%s is marked %q, and %s cites it", e.ID, e.Kind, files[i])
	default:
		return ""
	}
}

// Whatever its level, a requirement without a verdict is found.
func TestVerdicts(t *testing.T) {
	const test = "runtime/x_test.go"
	for _, tt := range []struct {
		name  string
		e     entry
		files []string
		want  string
	}{
		{"a test cites it", entry{ID: "X", Level: "MUST"}, []string{"docs/tags.md", test}, ""},
		{"only a document names it", entry{ID: "X", Level: "MAY"}, []string{"docs/tags.md"},
			"no test cites X (MAY), and no mark says why"},
		{"nothing names it", entry{ID: "X", Level: "SHOULD"}, nil, "no test cites X (SHOULD), and no mark says why"},
		{"a mark", entry{ID: "X", Level: "MAY", Kind: notApplicable}, nil, ""},
		{"a part of it is held", entry{ID: "X", Level: "MUST", Kind: open}, []string{test}, ""},
		{"a mark that a test contradicts", entry{ID: "X", Level: "SHOULD", Kind: notBuilt}, []string{test},
			`X is marked "not built", and runtime/x_test.go cites it`},
	} {
		if got := verdict(tt.e, tt.files); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
