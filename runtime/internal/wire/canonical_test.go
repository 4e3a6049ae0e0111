package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// REQ-CT-03: requests that mean the same have one canonical form, others have another.
func TestCanonical(t *testing.T) {
	huge := strings.Repeat("9", 40)
	for _, same := range [][]string{
		{`{"a":["x"],"b":1}`, ` { "b" : 1.0 , "a" : [ "\u0078" ] } `},
		{`1`, `1.0`, `1e0`, `10e-1`, `0.1E+1`, `1e00`},
		{`1e2`, `100`, `1E+2`, `100.00`, `0.001e5`},
		{`-15e-1`, `-1.5`, `-0.15e1`},
		{`0`, `-0`, `0.00e9`, `-0e-9`, `0e` + huge},
		{`"A/é\n"`, `"\u0041\/\u00e9\u000a"`},
		{`"\u2028"`, "\"\u2028\""},
		{`12345678901234567890123`, `1234567890123456789012.3e1`},
		{`9007199254740993`, `9007199254740993.0`},
		{`1e` + huge, `10e` + huge[1:] + `8`, `0.1e1` + strings.Repeat("0", 40)},
		{`1e-1` + strings.Repeat("0", 40), `10e-1` + strings.Repeat("0", 39) + `1`, `0.1e-` + huge},
		{`1e99999999999999999`, `10e99999999999999998`, `0.1e100000000000000000`},
		{`1e-100000000000000000`, `0.1e-99999999999999999`, `10e-100000000000000001`, `1e-0100000000000000000`},
		{`{"":1,"a":2,"ab":3,"b":4,"é":5}`, `{"é":5,"b":4,"ab":3,"a":2,"":1}`},
	} {
		want := Canonical(nil, same[0])
		for _, spelling := range same[1:] {
			if got := Canonical(nil, spelling); !bytes.Equal(got, want) {
				t.Errorf("%s: %s, and %s: %s", same[0], want, spelling, got)
			}
		}
		if again := Canonical(nil, string(want)); !bytes.Equal(again, want) {
			t.Errorf("%s becomes %s", want, again)
		}
	}
	different := []string{
		`9007199254740993`, `9007199254740992`, `1`, `"1"`, `-1`, `[1,2]`, `[2,1]`, `[1]`, `[[1]]`, `null`, `{}`, `[]`,
		`""`, `0`, `false`, `true`,
		`{"a":1}`, `{"a":{"a":1}}`, `{"b":1}`, `1e400`, `1e401`, `1e` + huge, `1e` + huge + `9`, `-1e` + huge, `1e-` + huge,
		`11e` + huge, `0.1`, `0.11`,
	}
	seen := map[string]string{}
	for _, text := range different {
		form := string(Canonical(nil, text))
		if earlier, found := seen[form]; found {
			t.Errorf("%s and %s are the same: %s", earlier, text, form)
		}
		seen[form] = text
	}
	got := string(Canonical([]byte("x="), `{"b":[1.50,"<\u000b"],"a":100}`))
	if got != `x={"a":1e2,"b":[15e-1,"<\u000b"]}` {
		t.Errorf("got %s", got)
	}
}

// A short text cannot make a long canonical form, nor one that takes long to find: in steps that are the square of the
// length, this test would take hours.
func TestCanonicalIsBounded(t *testing.T) {
	for _, text := range []string{
		`1e999999999`, `-1e-999999999999999999999`, `1e` + strings.Repeat("9", 1<<20), strings.Repeat("9", 1<<20),
		`0.` + strings.Repeat("0", 1<<20) + `1`,
		strings.Repeat(`{"b":0,"a":`, 9_000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("}", 9_000),
	} {
		if got := Canonical(nil, text); len(got) > len(text)+30 {
			t.Errorf("%.40s… of %d bytes becomes %d bytes", text, len(text), len(got))
		}
	}
}

// The canonical form is valid, its own canonical form, keeps the value, and is that of every other spelling.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		document, `{"b":[1.50,-0,1e5,123e-7],"a":{"é\n":"\u2028\"","":null}}`, `12345678901234567890.5e-30`,
		`[0.0,100,1E400,1e-99999999999999999999]`,
	} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, input string, seed uint64) {
		r := NewReader(input, Limits{MaxDepth: 500})
		r.Skip()
		if r.End(); r.Fault() != nil {
			return
		}
		form := Canonical(nil, input)
		if !strictlyValid(string(form)) {
			t.Fatalf("%q: %s is not valid", input, form)
		}
		if again := Canonical(nil, string(form)); !bytes.Equal(again, form) {
			t.Fatalf("%q: %s becomes %s", input, form, again)
		}
		want, got := decodeNumbers(t, input), decodeNumbers(t, string(form))
		if !equal(want, got) {
			t.Fatalf("%q: %s is another value", input, form)
		}
		other := string(respell(nil, want, rand.New(rand.NewPCG(seed, 0))))
		if second := Canonical(nil, other); !bytes.Equal(second, form) {
			t.Fatalf("%s and %s differ: %s, %s", input, other, form, second)
		}
		plain, ok := Plain(input)
		if same := Canonical(nil, plain); !ok || !strictlyValid(plain) || !bytes.Equal(same, form) {
			t.Fatalf("%s: plainly %s, %t", input, plain, ok)
		}
	})
}

// FuzzCanonicalNumbers compares the canonical forms of two numbers with their exact values.
func FuzzCanonicalNumbers(f *testing.F) {
	f.Add("1.0", "10e-1")
	f.Add("-0", "0e5")
	f.Add("123456789e30", "1.23456789e38")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b} {
			if r := NewReader(text, Limits{}); r.Kind() != "number" || r.Raw() != text || r.Fault() != nil {
				return
			}
		}
		exactA, okA := rational(a)
		exactB, okB := rational(b)
		if !okA || !okB {
			return
		}
		formA, formB := Canonical(nil, a), Canonical(nil, b)
		if (exactA.Cmp(exactB) == 0) != bytes.Equal(formA, formB) {
			t.Fatalf("%s: %s, and %s: %s", a, formA, b, formB)
		}
		if back, ok := rational(string(formA)); !ok || back.Cmp(exactA) != 0 {
			t.Fatalf("%s becomes %s", a, formA)
		}
	})
}

func decodeNumbers(t *testing.T, text string) (v any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// equal compares values, numbers exactly as far as that can be computed.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		exactA, okA := rational(string(a))
		exactB, okB := rational(string(b))
		return ok && (!okA || !okB || exactA.Cmp(exactB) == 0)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	default:
		return a == b
	}
}

// respell writes a value in another way: members in any order, white space anywhere, characters escaped, numbers
// shifted.
func respell(dst []byte, v any, random *rand.Rand) []byte {
	space := func() {
		for range random.IntN(3) {
			dst = append(dst, " \t\r\n"[random.IntN(4)])
		}
	}
	space()
	switch v := v.(type) {
	case map[string]any:
		dst = append(dst, '{')
		names := sortedKeys(v) // the order must depend on the seed alone
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			space()
			dst = respellString(dst, name, random)
			space()
			dst = respell(append(dst, ':'), v[name], random)
		}
		dst = append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = respell(dst, element, random)
		}
		dst = append(dst, ']')
	case string:
		dst = respellString(dst, v, random)
	case json.Number:
		dst = respellNumber(dst, string(v), random)
	case bool:
		dst = fmt.Append(dst, v)
	case nil:
		dst = append(dst, "null"...)
	}
	space()
	return dst
}

func respellString(dst []byte, s string, random *rand.Rand) []byte {
	dst = append(dst, '"')
	for _, char := range s {
		switch {
		case char < ' ' || char == '"' || char == '\\' || random.IntN(3) == 0:
			for _, unit := range utf16.Encode([]rune{char}) {
				dst = fmt.Appendf(dst, `\u%04X`, unit)
			}
		default:
			dst = append(dst, string(char)...)
		}
	}
	return append(dst, '"')
}

// respellNumber adds zeros behind a number's point, or before its exponent's digits.
func respellNumber(dst []byte, text string, random *rand.Rand) []byte {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	zeros := strings.Repeat("0", random.IntN(4))
	if strings.Contains(mantissa, ".") {
		mantissa += zeros
	} else if zeros != "" {
		mantissa += "." + zeros
	}
	dst = append(dst, mantissa...)
	if exponent == "" && random.IntN(2) == 0 {
		return dst
	}
	sign := strings.TrimRight(exponent, "0123456789")
	if sign == "" && random.IntN(2) == 0 {
		sign = "+"
	}
	dst = append(dst, "eE"[random.IntN(2)])
	dst = append(append(dst, sign...), zeros...)
	return append(append(dst, '0'), strings.TrimLeft(exponent, "+-")...)
}
