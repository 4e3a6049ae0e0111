package wire

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestString(t *testing.T) {
	for _, tt := range []struct{ input, want, problem string }{
		{`""`, "", ""}, {`"plain"`, "plain", ""}, {`"é😀"`, "é😀", ""}, {`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", ""},
		{`"\u00e9\u00E9\ud83d\ude00\uFFFF"`, "éé😀\uffff", ""}, {`"a\u0062c\u0064e"`, "abcde", ""},
		{
			`"` + strings.Repeat("long ", 100) + `\n` + strings.Repeat("tail", 100) + `"`,
			strings.Repeat("long ", 100) + "\n" + strings.Repeat("tail", 100), "",
		},
		{"\"\x7f\u2028\"", "\x7f\u2028", ""},
		{`1`, "", "type string number"}, {`null`, "", "type string null"}, {`{"a":[]}`, "", "type string object"},
	} {
		r := NewReader(tt.input, Limits{})
		got, ok := r.String()
		r.End()
		if problem := outcome(r); got != tt.want || problem != tt.problem || ok != (tt.problem == "") {
			t.Errorf("String of %s: %q, %v, %q; want %q, %q", tt.input, got, ok, problem, tt.want, tt.problem)
		}
	}
}

// A quote, a backslash or a control character is found at every offset, although strings are scanned in steps.
func TestStringsOfEveryLength(t *testing.T) {
	for n := range 70 {
		for _, fill := range []string{"x", " ", "\x7f", "!", "#", "[", "]", "é"} {
			plain := strings.Repeat(fill, n)
			for _, tt := range []struct{ input, want, problem string }{
				{`"` + plain + `"`, plain, ""},
				{`"` + plain + `\"` + plain + `"`, plain + `"` + plain, ""},
				{`"` + plain + "\x1f" + plain + `"`, "", "a control character stands unescaped in a string"},
				{`"` + plain, "", "the JSON value is cut off"},
			} {
				r := NewReader(tt.input, Limits{})
				got, _ := r.String()
				problem := ""
				if r.Fault() != nil {
					problem = r.Fault().Detail
				}
				if got != tt.want || problem != tt.problem {
					t.Errorf("String of %q: %q, %q", tt.input, got, problem)
				}
			}
		}
	}
}

// Strings without escapes are not copied; strings with escapes do not change when more are read.
func TestStringMemory(t *testing.T) {
	input := `["plain","` + strings.Repeat(`\n`, 600) + `","` + strings.Repeat(`\t`, 600) + `","\\"]`
	r := NewReader(input, Limits{})
	var got []string
	if r.Array() {
		for r.NextElement() {
			s, _ := r.String()
			got = append(got, s)
		}
	}
	if unsafe.StringData(got[0]) != unsafe.StringData(input[2:]) {
		t.Error("a plain string was copied")
	}
	if allocations := testing.AllocsPerRun(10, func() {
		r.Reset(`{"\u0061":"\n one","b\u0062":["\t two","\\ three"]}`, Limits{})
		walk(r)
	}); allocations > 1 {
		t.Errorf("four strings with escapes take %v allocations", allocations)
	}
	if got[1] != strings.Repeat("\n", 600) || got[2] != strings.Repeat("\t", 600) || got[3] != `\` {
		t.Errorf("unescaped strings have changed: %q", got[1:])
	}
}

func TestBoolAndNull(t *testing.T) {
	r := NewReader(` [ true , false , null , 0 , "true" ] `, Limits{})
	r.Array()
	r.NextElement()
	if v, ok := r.Bool(); !v || !ok {
		t.Error("true")
	}
	r.NextElement()
	if v, ok := r.Bool(); v || !ok || r.Null() {
		t.Error("false")
	}
	r.NextElement()
	if !r.Null() {
		t.Error("null")
	}
	r.NextElement()
	if r.Null() {
		t.Error("0 is not null")
	}
	if v, ok := r.Bool(); v || ok || outcome(r) != "type boolean number" {
		t.Errorf("0 is not false: %q", outcome(r))
	}
	r.NextElement()
	r.Bool()
	if p := r.Problems(); len(p) != 2 || p[1].Value != `"true"` || p[1].Path != "[4]" {
		t.Errorf("a string is not a boolean: %+v", p)
	}
	if r.NextElement() {
		t.Error("the array goes on")
	}
	r.End()
	if r.Fault() != nil {
		t.Error(r.Fault())
	}
}

// REQ-DE-03, REQ-DE-05: a time has a date, a time and a zone.
func TestTime(t *testing.T) {
	for input, want := range map[string]string{
		`"2026-02-04T10:30:00Z"`:                "2026-02-04T10:30:00Z",
		`"2026-02-04T10:30:00.123456789+05:30"`: "2026-02-04T05:00:00.123456789Z",
		`"2026-02-04T10:30:00-00:00"`:           "2026-02-04T10:30:00Z",
		`"\u0032026-02-04T10:30:00Z"`:           "2026-02-04T10:30:00Z",
		`"0000-01-01T00:00:00Z"`:                "0000-01-01T00:00:00Z",
		`"2026-02-04"`:                          "type date-time string",
		`"2026-02-04T10:30:00"`:                 "type date-time string",
		`"2026-02-30T10:30:00Z"`:                "type date-time string",
		`"2026-02-04T24:00:00Z"`:                "type date-time string",
		`"2026-02-04T1:30:00Z"`:                 "type date-time string",
		`"2026-02-04T1:30:00.00Z"`:              "type date-time string",
		`"2026-02-04T10:30:00,5Z"`:              "type date-time string",
		`"2026-02-04T10:30:00+24:00"`:           "type date-time string",
		`"2026-02-04T10:30:00+00:60"`:           "type date-time string",
		`"2026-02-04T10:30:00+0530"`:            "type date-time string",
		`"2026-02-04 10:30:00Z"`:                "type date-time string",
		`"2026-02-04t10:30:00z"`:                "type date-time string",
		`"0000-01-01T00:00:00+01:00"`:           "type date-time string",
		`"9999-12-31T23:59:59-01:00"`:           "type date-time string",
		`"+2026-02-04T10:30:00Z"`:               "type date-time string",
		`"now"`:                                 "type date-time string",
		`""`:                                    "type date-time string",
		`1770000000`:                            "type date-time number",
		`null`:                                  "type date-time null",
	} {
		r := NewReader(input, Limits{})
		got, ok := r.Time()
		r.End()
		result := outcome(r)
		if ok {
			result = got.UTC().Format(time.RFC3339Nano)
		} else if !got.IsZero() {
			t.Errorf("Time of %s: %v beside a problem", input, got)
		}
		if result != want {
			t.Errorf("Time of %s: %q, want %q", input, result, want)
		}
	}
}

// grammar is that of RFC 3339, in capitals.
var grammar = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// REQ-DE-05: a time follows the grammar of RFC 3339 and is in the calendar, and what is read can be written.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		"2026-02-04T10:30:00Z", "2026-02-04T10:30:00.5+05:30", "2026-02-04T1:30:00Z", "9999-12-31T23:59:59-01:00",
		"2026-02-04T10:30:00,5Z", "2024-02-29", "2023-02-29", "2100-02-29", "0000-02-29", "2026-04-31", "yesterday",
		"2026-02-04T10:30:00.Z", "2026-02-04T10:30:60Z", "0000-01-01T00:30:00+00:30", "9999-12-31T23:30:00-00:30",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := time.Parse(time.RFC3339, s)
		strict := err == nil && grammar.MatchString(s) && want.UTC().Year() >= 0 && want.UTC().Year() <= 9999
		got, ok := dateTime(s)
		if ok != strict || ok && !got.Equal(want) {
			t.Fatalf("%q: %v, %v; the standard library: %v, %v", s, got, ok, want, strict)
		}
		if IsDateTime(s) != strict {
			t.Fatalf("%q is a date-time: %v, want %v", s, !strict, strict)
		}
		if _, err := time.Parse(time.DateOnly, s); IsDate(s) != (err == nil) {
			t.Fatalf("%q is a date: %v; the standard library: %v", s, IsDate(s), err)
		}
		if w := NewWriter(nil); ok {
			if w.Time(got); w.Err() != nil {
				t.Fatalf("%q: %v", s, w.Err())
			}
			if back, ok := NewReader(string(w.Bytes()), Limits{}).Time(); !ok || !back.Equal(got) {
				t.Fatalf("%q is written as %s", s, w.Bytes())
			}
		}
	})
}

// REQ-DE-08: the standard alphabet, padded, and only one spelling of every value.
func TestBytes(t *testing.T) {
	for input, want := range map[string]string{
		`""`: "", `"aGk="`: "hi", `"+/8="`: "\xfb\xff", `"\u0061Gk="`: "hi",
		`"aGk"`: "type base64 string", `"aGk=="`: "type base64 string", `"-_8="`: "type base64 string",
		`"aGl="`:   "type base64 string",
		`"aG\nk="`: "type base64 string", `"aGk= "`: "type base64 string", `[104]`: "type base64 array",
	} {
		r := NewReader(input, Limits{})
		got, ok := r.Bytes()
		r.End()
		result := outcome(r)
		if ok {
			result = string(got)
		} else if got != nil {
			t.Errorf("Bytes of %s: %q beside a problem", input, got)
		}
		if result != want || ok && got == nil {
			t.Errorf("Bytes of %s: %q, want %q", input, result, want)
		}
	}
}

// REQ-DE-05: the short way of reading a time agrees with the library's.
func TestTimesInUTC(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const letters = "0123456789-:.TZ+ 9"
	for range 200_000 {
		at := time.Unix(random.Int64N(253402300800+62135596800)-62135596800, random.Int64N(1e9)).UTC()
		text := []byte(at.Format([]string{time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05.000Z"}[random.IntN(3)]))
		if random.IntN(2) == 0 {
			text[random.IntN(len(text))] = letters[random.IntN(len(letters))]
		}
		got, ok := utcTime(string(text))
		want, err := time.Parse(time.RFC3339Nano, string(text))
		if ok && (err != nil || got != want) {
			t.Fatalf("%s is %v, want %v, %v", text, got, want, err)
		}
		if !ok && err == nil && want.Location() == time.UTC && want.Day() < 29 && text[19] != ',' && text[12] != ':' {
			t.Fatalf("%s was left to the library", text)
		}
	}
}

// A7, REQ-DE-05: what a string of the format date-time or date may be is what the standard library reads, less what RFC
// 3339 does not know. The texts are times and dates with a few wrong characters.
func TestFormatsOfTime(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const letters = "0123456789-:.TZtz+ ,"
	zones := []*time.Location{
		time.UTC,
		time.FixedZone("", 23*3600+59*60),
		time.FixedZone("", -3600),
		time.FixedZone("", 60),
	}
	accepted, refused := 0, 0
	for range 400_000 {
		at := time.Unix(random.Int64N(253402300800+62167219200)-62167219200, random.Int64N(1e9)*random.Int64N(2))
		layout := []string{time.RFC3339, time.RFC3339Nano, time.DateOnly}[random.IntN(3)]
		text := []byte(at.In(zones[random.IntN(len(zones))]).Format(layout))
		for range random.IntN(3) {
			text[random.IntN(len(text))] = letters[random.IntN(len(letters))]
		}
		s := string(text)
		if _, err := time.Parse(time.DateOnly, s); IsDate(s) != (err == nil) {
			t.Fatalf("%q is a date: %v; the standard library: %v", s, IsDate(s), err)
		}
		want, err := time.Parse(time.RFC3339, s)
		strict := err == nil && grammar.MatchString(s) && want.UTC().Year() >= 0 && want.UTC().Year() <= 9999
		if IsDateTime(s) != strict {
			t.Fatalf("%q is a date-time: %v; the standard library: %v", s, !strict, err)
		}
		if strict || IsDate(s) {
			accepted++
		} else {
			refused++
		}
	}
	if accepted < 100_000 || refused < 100_000 {
		t.Errorf("%d accepted, %d refused: the texts do not tell much", accepted, refused)
	}
	for _, s := range []string{"2026-02-04T10:30:00+05:30", "2026-02-30T10:30:00Z", "yesterday", "2026-02-04"} {
		if n := testing.AllocsPerRun(100, func() { _, _ = IsDateTime(s), IsDate(s) }); n > 0 {
			t.Errorf("checking %q allocates %v times", s, n)
		}
	}
}
