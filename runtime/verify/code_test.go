package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"testing"
)

// REQ-OV-02: a code has 128 random bits or more, and every symbol is as likely as any other.
func TestCodesAreRandom(t *testing.T) {
	if bits := symbols * math.Log2(float64(len(alphabet))); bits < 128 {
		t.Errorf("a code has %v bits", bits)
	}
	shape := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{5}-){5}[0-9A-HJKMNP-TV-Z]$`)
	seen, counts := make(map[Code]bool), make(map[byte]int)
	const codes = 4000
	for range codes {
		c := newCode()
		if seen[c] || !shape.MatchString(c.Text()) {
			t.Fatalf("%s was drawn twice, or has another shape", c.Text())
		}
		seen[c] = true
		for _, symbol := range c.symbols {
			counts[symbol]++
		}
	}
	// 3250 of each symbol are expected; ten standard deviations more or less do not happen by chance.
	for _, symbol := range []byte(alphabet) {
		if got := counts[symbol]; math.Abs(float64(got)-codes*symbols/32) > 10*math.Sqrt(codes*symbols/32) {
			t.Errorf("%c was drawn %d times", symbol, got)
		}
	}
}

// A code is read in every form in which people and chats pass it on.
func TestCodesAreReadLeniently(t *testing.T) {
	want, ok := readCode("7K2PQM9XAT4WRNEHB6CDV8FY10")
	if !ok || want.Text() != "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-0" {
		t.Fatalf("%s, %v", want.Text(), ok)
	}
	for name, typed := range map[string]string{
		"as it is shown":       "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-0",
		"in small letters":     "7k2pq-m9xat-4wrne-hb6cd-v8fy1-0",
		"with spaces":          " 7K2PQ M9XAT\t4WRNE HB6CD V8FY1 0\r\n",
		"with other dashes":    "7K2PQ–M9XAT—4WRNE‑HB6CD-V8FY1-0",
		"with hard spaces":     "7K2PQ\u00a0M9XAT\u202f4WRNE\u3000HB6CD V8FY1 0",
		"I and O":              "7K2PQ-M9XAT-4WRNE-HB6CD-V8FYI-O",
		"l and o":              "7K2PQ-M9XAT-4WRNE-HB6CD-V8FYl-o",
		"L":                    "7K2PQ-M9XAT-4WRNE-HB6CD-V8FYL-0",
		"i, grouped by twos":   "7K 2P QM 9X AT 4W RN EH B6 CD V8 FY i0",
		"without any grouping": "7K2PQM9XAT4WRNEHB6CDV8FY10",
	} {
		if got, ok := readCode(typed); !ok || got != want {
			t.Errorf("%s: %q is read as %s, %v", name, typed, got.Text(), ok)
		}
	}
}

func TestWhatIsNoCode(t *testing.T) {
	for name, typed := range map[string]string{
		"nothing":            "",
		"one symbol less":    "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1",
		"one symbol more":    "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-00",
		"U":                  "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-U",
		"a letter like A":    "7K2PQ-M9XАT-4WRNE-HB6CD-V8FY1-0",
		"a mark":             "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-0!",
		"an invisible one":   "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-0\u200b",
		"far too many bytes": strings.Repeat(" ", longestTyped) + "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-0",
		"no UTF-8":           "7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-\xff",
	} {
		if got, ok := readCode(typed); ok {
			t.Errorf("%s: %q is read as %s", name, typed, got.Text())
		}
	}
}

// REQ-OV-03: whatever prints a code by accident does not.
func TestCodesAreNotPrinted(t *testing.T) {
	shown := Shown{Code: newCode()}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Error("text", "code", shown.Code, "shown", shown)
	slog.New(slog.NewJSONHandler(&log, nil)).Error("json", "code", shown.Code, "shown", shown)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%U", "%o", "%b"} {
		fmt.Fprintf(&log, verb+verb+verb+"\n", shown.Code, &shown.Code, shown)
	}
	encoded, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	log.Write(encoded)
	c := shown.Code
	for _, form := range []string{
		c.Text(), string(c.symbols[:]), string(c.symbols[:8]), fmt.Sprintf("%x", c.symbols[:8]), fmt.Sprint(c.symbols[:8]),
		fmt.Sprintf("%X", c.symbols[:8]), fmt.Sprintf("%d", c.symbols[:8]), fmt.Sprintf("%#v", c.symbols[:8]),
	} {
		if strings.Contains(log.String(), strings.Trim(form, "[]{}")) {
			t.Errorf("%s is printed:\n%s", form, &log)
		}
	}
}

// FuzzReadCode: the reader takes what it writes, and nothing that has not 26 symbols of the alphabet when case, spaces,
// dashes and the letters that look like digits are put aside.
func FuzzReadCode(f *testing.F) {
	f.Add("7K2PQ-M9XAT-4WRNE-HB6CD-V8FYI-O")
	f.Add(" 7k2pq m9xat\t4wrne–hb6cd v8fyl o\n")
	f.Add("7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1")
	f.Add("\xff\u200b—")
	f.Fuzz(func(t *testing.T, typed string) {
		c, ok := readCode(typed)
		kept := 0
		for _, r := range strings.ToUpper(typed) {
			if strings.ContainsRune(alphabet+"ILO", r) {
				kept++
			}
		}
		if !ok {
			return
		}
		if kept != symbols {
			t.Errorf("%q has %d symbols and is read as %s", typed, kept, c.Text())
		}
		for _, form := range []string{c.Text(), strings.ToLower(c.Text()), string(c.symbols[:])} {
			if again, ok := readCode(form); !ok || again != c {
				t.Errorf("%q is read as %s, and %q as %s", typed, c.Text(), form, again.Text())
			}
		}
	})
}
