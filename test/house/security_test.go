package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// proof finds the names of tests on a page.
var proof = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)`")

// Every row of a table in docs/security.md whose last column is called tests is a promise: it names a test that holds
// it. So do the sentences that name one.
func TestEveryPromiseHasATest(t *testing.T) {
	page := pages(t)["docs/security.md"]
	defined := definedTests(t)
	promises := 0
	inTable, proven := false, false
	for number, line := range strings.Split(page, "\n") {
		for _, match := range proof.FindAllStringSubmatch(line, -1) {
			if !defined[match[1]] {
				t.Errorf("docs/security.md:%d: there is no %s", number+1, match[1])
			}
		}
		row := strings.HasPrefix(line, "|")
		switch {
		case row && !inTable: // the header
			proven = strings.HasSuffix(line, "| tests |")
		case row && proven && !strings.HasPrefix(line, "|---"):
			promises++
			cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
			if !proof.MatchString(cells[len(cells)-1]) {
				t.Errorf("docs/security.md:%d: no test holds this promise", number+1)
			}
		}
		inTable = row
	}
	if promises < 50 {
		t.Errorf("only %d promises were found", promises)
	}
}

// definedTests returns the names of all tests of the repository.
func definedTests(t *testing.T) map[string]bool {
	t.Helper()
	root := repository(t)
	files, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skip("not a git work tree")
	}
	defined := make(map[string]bool)
	for file := range strings.FieldsSeq(string(files)) {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue
		}
		for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`).FindAllSubmatch(source, -1) {
			defined[string(match[1])] = true
		}
	}
	return defined
}
