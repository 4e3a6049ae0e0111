package codec_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the tables of differences")

// A11: testdata/differences.md has what TestReadDifferences and TestWriteDifferences hold. TestEncodingPage of
// test/house compares docs/encoding.md with it.
func TestDifferencesAreTold(t *testing.T) {
	const file = "testdata/differences.md"
	want := readTable() + "\n" + writeTable()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what the tests hold; run this test with -update (-want +got):\n%s", file, diff)
	}
}

func readTable() string {
	var b strings.Builder
	b.WriteString("| difference | Go type | JSON sent | the handler gets | encoding/json |\n|---|---|---|---|---|\n")
	for _, c := range readDifferences {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
			c.name, cell(typeName(c.goType)), cell(c.text), verdict(c.want), verdict(c.theirs))
	}
	return b.String()
}

func writeTable() string {
	var b strings.Builder
	b.WriteString("| difference | Go type | aql-tag writes | encoding/json |\n|---|---|---|---|\n")
	for _, c := range writeDifferences {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n",
			c.name, cell(typeName(reflect.TypeOf(c.value))), verdict(c.want), verdict(c.theirs))
	}
	return b.String()
}

// typeName is a type as a user would write it.
func typeName(t reflect.Type) string {
	name := strings.ReplaceAll(t.String(), "codec_test.", "")
	return strings.ReplaceAll(name, "interface {}", "any")
}

// verdict shows a value, or the reason of a refusal without the package and the type of the test.
func verdict(text string) string {
	reason, refused := strings.CutPrefix(text, "refused: ")
	if !refused {
		return cell(text)
	}
	return "refused: " + prose(strings.ReplaceAll(strings.TrimPrefix(reason, "json: "), "codec_test.", ""))
}

// cell is text as code in a table of Markdown. Bytes that are not UTF-8 are written as in Go.
func cell(text string) string {
	if strings.ToValidUTF8(text, "") != text {
		text = strings.ReplaceAll(strings.Trim(strconv.Quote(text), `"`), `\"`, `"`)
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

func prose(text string) string { return strings.NewReplacer("|", `\|`, "<", `\<`).Replace(text) }
