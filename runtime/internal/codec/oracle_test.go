package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rounds = flag.Int("rounds", 300, "random values for each type")

// perType is how many values of each type are tried: fewer with -short and with the race detector.
func perType() int {
	if testing.Short() {
		return *rounds / 10
	}
	return *rounds
}

// oracle is what encoding/json writes.
func oracle(t testing.TB, v any) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Every value is written as encoding/json writes it, except for the rows of TestDifferences.
func TestEncoderAgreesWithEncodingJSON(t *testing.T) {
	for _, goType := range fixtures() {
		t.Run(goType.String(), func(t *testing.T) {
			c, r := newCodecs(t, goType), newRandom(1)
			for range perType() {
				box := reflect.New(c.box)
				r.fill(box.Elem(), 6, false)
				got, err := c.encode(box)
				if err != nil {
					t.Fatalf("%v\nvalue: %s", err, oracle(t, box.Interface()))
				}
				emptyNils(box.Elem(), false)
				if want := oracle(t, box.Interface()); got != want {
					t.Fatalf("-encoding/json +codec:\n%s", cmp.Diff(want, got))
				}
			}
		})
	}
}

// emptyNils makes nil slices and maps empty, which is how they are written (T-89, A2). One that omitzero leaves out
// stays.
func emptyNils(v reflect.Value, omitted bool) {
	if has[json.Marshaler](v.Type()) || has[json.Unmarshaler](v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() && !omitted && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			emptyNils(v.Index(i), false)
		}
	case reflect.Map:
		if v.IsNil() && !omitted && v.CanSet() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for iterator := v.MapRange(); iterator.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(iterator.Value())
			emptyNils(elem, false)
			v.SetMapIndex(iterator.Key(), elem)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			emptyNils(v.Elem(), false)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			emptyNils(v.Field(i), strings.Contains(f.Tag.Get("json"), "omitzero"))
		}
	}
}

// What encoding/json writes is read into the value that encoding/json reads.
func TestDecoderAgreesWithEncodingJSON(t *testing.T) {
	for _, goType := range fixtures() {
		t.Run(goType.String(), func(t *testing.T) {
			c, r := newCodecs(t, goType), newRandom(2)
			r.zones = true
			for range perType() {
				box := reflect.New(c.box)
				r.fill(box.Elem(), 6, false)
				text := oracle(t, box.Interface())
				got, err := c.decode(text)
				if err != nil {
					t.Fatalf("%v\ntext: %s", err, text)
				}
				want := reflect.New(c.box)
				if err := json.Unmarshal([]byte(text), want.Interface()); err != nil {
					t.Fatalf("encoding/json: %v\ntext: %s", err, text)
				}
				compare(t, text, got, want)
			}
		})
	}
}

func compare(t *testing.T, text string, got, want reflect.Value) {
	t.Helper()
	if !reflect.DeepEqual(got.Interface(), want.Interface()) {
		t.Fatalf("read from %s\n-encoding/json +codec:\n%s", text, cmp.Diff(describe(want), describe(got)))
	}
}

// describe shows a value in full.
func describe(v reflect.Value) string {
	text, _ := json.MarshalIndent(v.Interface(), "", " ")
	return string(text)
}

// encoding/json accepts every text that is accepted here, and reads the same value. The
// exceptions are an integer that is spelled 1.0 or 1e2 (REQ-VO-05), and one without its quotes (A8).
func TestDecoderAcceptsNoMoreThanEncodingJSON(t *testing.T) {
	accepted, refused := 0, 0
	for _, goType := range fixtures() {
		t.Run(goType.String(), func(t *testing.T) {
			c, r := newCodecs(t, goType), newRandom(3)
			for range perType() {
				box := reflect.New(c.box)
				r.fill(box.Elem(), 5, false)
				text := r.mutate(oracle(t, box.Interface()))
				if readsAsJSON(t, c, text) {
					accepted++
				} else {
					refused++
				}
			}
		})
	}
	if accepted < refused/20 || refused < accepted/20 {
		t.Errorf("%d accepted, %d refused: the mutations say little", accepted, refused)
	}
}

// readsAsJSON reads a text here and with encoding/json, compares the values, and reports whether the text was accepted.
func readsAsJSON(t *testing.T, c *codecs, text string) bool {
	t.Helper()
	got, err := c.decode(text)
	if err != nil {
		return false
	}
	want := reflect.New(c.box)
	if err := json.Unmarshal([]byte(text), want.Interface()); err != nil {
		if !spelledInteger(err) && !strings.Contains(err.Error(), "trying to unmarshal unquoted value") {
			t.Fatalf("accepted, but encoding/json says %v\ntext: %s", err, text)
		}
		return true
	}
	adoptNumbers(got.Elem())
	dropNulls(want.Elem())
	compare(t, text, got, want)
	return true
}

// spelledInteger recognises encoding/json's complaint about 1.0.
func spelledInteger(err error) bool {
	if _, large, ok := strings.Cut(err.Error(), "math/big: cannot unmarshal "); ok {
		text, _, _ := strings.Cut(strings.TrimPrefix(large, `"`), `"`)
		value, valid := new(big.Rat).SetString(text)
		return valid && value.IsInt()
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return false
	}
	number, ok := strings.CutPrefix(wrong.Value, "number ")
	value, valid := new(big.Rat).SetString(number)
	return ok && valid && value.IsInt() && strings.ContainsAny(number, ".eE")
}

// adoptNumbers turns the exact integers in dynamic values into encoding/json's floats.
func adoptNumbers(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		switch inner := v.Interface().(type) {
		case json.Number:
			if f, err := inner.Float64(); err == nil {
				v.Set(reflect.ValueOf(f))
			}
		case map[string]any:
			for key := range inner {
				value := inner[key]
				adoptNumbers(reflect.ValueOf(&value).Elem())
				inner[key] = value
			}
		case []any:
			adoptNumbers(reflect.ValueOf(inner))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			adoptNumbers(v.Index(i))
		}
	case reflect.Map:
		for iterator := v.MapRange(); iterator.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(iterator.Value())
			adoptNumbers(elem)
			v.SetMapIndex(iterator.Key(), elem)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			adoptNumbers(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				adoptNumbers(v.Field(i))
			}
		}
	}
}

// dropNulls makes a field of raw JSON that is null an absent one (requirements REQ-VO-13).
func dropNulls(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			dropNulls(v.Index(i))
		}
	case reflect.Map:
		for iterator := v.MapRange(); iterator.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(iterator.Value())
			dropNulls(elem)
			v.SetMapIndex(iterator.Key(), elem)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			dropNulls(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Type() == reflect.TypeFor[json.RawMessage]() && string(f.Bytes()) == "null" {
				f.SetZero()
			} else if v.Type().Field(i).IsExported() {
				dropNulls(f)
			}
		}
	}
}

// scraps are what mutations put into texts.
var scraps = []string{
	"null", "true", "false", "0", "-1", "1.0", "1e2", "1.5", "300", "-129", "1e400", "99999999999999999999", `""`, `"x"`,
	`"1"`, `"null"`,
	`"aGk="`, `"aGk"`, `"2026-01-02T15:04:05Z"`, "[]", "[null]", "[1,2]", "[[]]", "{}", `{"a":null}`, `{"1":{}}`,
	`{"name":1}`, `"\u00e9"`,
	`"\ud800"`, "\"\xff\"", "nul", "01", "+1", ".5", "{", "]", ",", ":", `"#12"`, `"10.0.0.1"`, " \n\t", `"\"q\""`,
}

// mutate changes a text in one place or a few.
func (r *random) mutate(text string) string {
	for range 1 + r.IntN(2) {
		if len(text) < 8 {
			return text
		}
		switch r.IntN(6) {
		case 0: // a value becomes another
			text = replaceValue(text, r.IntN(len(text)), scraps[r.IntN(len(scraps))])
		case 1, 2: // a value moves
			from := r.IntN(len(text))
			text = replaceValue(text, r.IntN(len(text)), valueAt(text, from))
		case 3: // a byte is lost
			i := 5 + r.IntN(len(text)-5)
			text = text[:i] + text[i+1:]
		case 4: // something comes in between
			i := 5 + r.IntN(len(text)-5)
			text = text[:i] + scraps[r.IntN(len(scraps))] + text[i:]
		case 5: // upper case
			i := 5 + r.IntN(len(text)-5)
			text = text[:i] + strings.ToUpper(text[i:min(len(text), i+4)]) + text[min(len(text), i+4):]
		}
	}
	return text
}

// valueAt returns the value that begins nearest after an offset.
func valueAt(text string, offset int) string {
	start, end := valueBounds(text, offset)
	return text[start:end]
}

// replaceValue puts another value into the place of the one that begins nearest after an offset.
func replaceValue(text string, offset int, value string) string {
	start, end := valueBounds(text, offset)
	return text[:start] + value + text[end:]
}

func valueBounds(text string, offset int) (start, end int) {
	for i := offset; i < len(text); i++ {
		if text[i] != ':' && text[i] != ',' && text[i] != '[' {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(text[i+1:]))
		var value json.RawMessage
		if decoder.Decode(&value) == nil {
			return i + 1, i + 1 + int(decoder.InputOffset())
		}
	}
	return len(text), len(text)
}
