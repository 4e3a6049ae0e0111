package house_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	sectionRow  = regexp.MustCompile(`(?m)^\| core §(8\.\S+) \| ([^|]*) \|`)
	sectionHead = regexp.MustCompile(`(?m)^\d+(?:\.\d+)+ [A-Z]`)
	quotation   = regexp.MustCompile(`"([^"]+)"`)
)

// What docs/safety.md quotes of a section of the protocol stands there, word for word, and each section has a
// quotation.
func TestQuotationsOfTheProtocol(t *testing.T) {
	root := repository(t)
	spec, err := os.ReadFile(filepath.Join(root, "../shared/spec/002-core.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the protocol's documents are not there")
	} else if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/safety.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := sectionRow.FindAllStringSubmatch(string(page), -1)
	for _, row := range rows {
		_, section, found := strings.Cut(string(spec), "\n"+row[1]+" ")
		if !found {
			t.Errorf("the protocol has no section %s", row[1])
			continue
		}
		if next := sectionHead.FindStringIndex(section); next != nil {
			section = section[:next[0]]
		}
		quotations := quotation.FindAllStringSubmatch(row[2], -1)
		if len(quotations) == 0 {
			t.Errorf("section %s is not quoted", row[1])
		}
		for _, q := range quotations {
			if !strings.Contains(section, q[1]) {
				t.Errorf("section %s does not say %q", row[1], q[1])
			}
		}
	}
	if len(rows) < 17 {
		t.Errorf("only %d sections are quoted", len(rows))
	}
}
