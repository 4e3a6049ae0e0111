package codec_test

import (
	"database/sql"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readDifferences are all the ways in which a request is read otherwise than encoding/json would, and why.
var readDifferences = []struct {
	name, why    string
	goType       reflect.Type
	text         string
	want, theirs string // the value as encoding/json writes it, or "refused: …"
}{
	{
		"null for a method UnmarshalJSON", "REQ-VO-13", reflect.TypeFor[keptJSON](), `{"V":null}`, `{"V":""}`,
		`{"V":"null"}`,
	},
	{
		"a name stands twice", "T-89", reflect.TypeFor[int](), `{"V":1,"V":2}`,
		"refused: a name stands twice in one object (byte 7)", `{"V":2}`,
	},
	{"an unknown parameter", "REQ-UK-01", reflect.TypeFor[int](), `{"V":1,"W":2}`, "refused: W: unknown", `{"V":1}`},
	{
		"an unknown field", "REQ-UK-01", reflect.TypeFor[inner](), `{"V":{"nam":"x"}}`, "refused: V.nam: unknown",
		`{"V":{"name":""}}`,
	},
	{
		"a name in other letters", "T-89", reflect.TypeFor[inner](), `{"V":{"NAME":"x"}}`, "refused: V.NAME: unknown",
		`{"V":{"name":"x"}}`,
	},
	{
		"broken UTF-8", "REQ-DE-01", reflect.TypeFor[string](), "{\"V\":\"\xff\"}",
		"refused: the bytes are not UTF-8 (byte 6)", `{"V":"�"}`,
	},
	{
		"half a surrogate pair", "REQ-DE-01", reflect.TypeFor[string](), `{"V":"\ud800"}`,
		"refused: a string holds half a surrogate pair (byte 6)", `{"V":"�"}`,
	},
	{
		"the character U+0000", "REQ-DE-02", reflect.TypeFor[string](), `{"V":"\u0000"}`,
		"refused: a string holds the character U+0000 (byte 6)", `{"V":"\u0000"}`,
	},
	{
		"an integer with a fraction of zero", "REQ-VO-05", reflect.TypeFor[int](), `{"V":1.0}`, `{"V":1}`,
		"refused: json: cannot unmarshal number 1.0 into Go struct field .V of type int",
	},
	{
		"an integer with an exponent", "REQ-VO-05", reflect.TypeFor[uint8](), `{"V":1e2}`, `{"V":100}`,
		"refused: json: cannot unmarshal number 1e2 into Go struct field .V of type uint8",
	},
	{
		"a large integer with an exponent", "A13", reflect.TypeFor[big.Int](), `{"V":1e2}`, `{"V":100}`,
		"refused: math/big: cannot unmarshal \"1e2\" into a *big.Int",
	},
	{
		"the name of an integer with a leading zero", "A13", reflect.TypeFor[map[int]int](), `{"V":{"07":1}}`,
		"refused: V.07: expected integer, got name", `{"V":{"7":1}}`,
	},
	{
		"too few elements for an array", "REQ-VO-09", reflect.TypeFor[[2]int](), `{"V":[1]}`, "refused: V: min_items 2",
		`{"V":[1,0]}`,
	},
	{
		"too many elements for an array", "REQ-VO-09", reflect.TypeFor[[2]int](), `{"V":[1,2,3]}`,
		"refused: V: max_items 2", `{"V":[1,2]}`,
	},
	{
		"null in a list of numbers", "REQ-VO-05", reflect.TypeFor[[]int](), `{"V":[null]}`,
		"refused: V[0]: expected integer, got null", `{"V":[0]}`,
	},
	{
		"null in a list of lists", "REQ-VO-05", reflect.TypeFor[[][]int](), `{"V":[null]}`,
		"refused: V[0]: expected array, got null", `{"V":[null]}`,
	},
	{
		"null in a map of maps", "REQ-VO-05", reflect.TypeFor[map[string]map[string]int](), `{"V":{"a":null}}`,
		"refused: V.a: expected object, got null", `{"V":{"a":null}}`,
	},
	{
		"null in a list of binary data", "REQ-VO-05", reflect.TypeFor[[][]byte](), `{"V":[null]}`,
		"refused: V[0]: expected base64, got null", `{"V":[null]}`,
	},
	{
		"null in a list of structs", "REQ-VO-05", reflect.TypeFor[[]inner](), `{"V":[null]}`,
		"refused: V[0]: expected object, got null", `{"V":[{"name":""}]}`,
	},
	{
		"null in a list of texts", "REQ-VO-05", reflect.TypeFor[[]hexText](), `{"V":[null]}`,
		"refused: V[0]: expected string, got null", `{"V":[""]}`,
	},
	{
		"base64 with line breaks", "REQ-DE-08", reflect.TypeFor[[]byte](), `{"V":"aG\nk="}`,
		"refused: V: expected base64, got string", `{"V":"aGk="}`,
	},
	{
		"base64 with stray bits", "REQ-DE-08", reflect.TypeFor[[]byte](), `{"V":"aGl="}`,
		"refused: V: expected base64, got string", `{"V":"aGk="}`,
	},
	{
		"binary data as a list of numbers", "REQ-DE-08", reflect.TypeFor[[]byte](), `{"V":[1,2]}`,
		"refused: V: expected base64, got array", `{"V":"AQI="}`,
	},
	{
		"a large integer in a dynamic value", "REQ-DE-07", reflect.TypeFor[any](), `{"V":9007199254740993}`,
		`{"V":9007199254740993}`, `{"V":9007199254740992}`,
	},
	{
		"a fraction in a dynamic value that a float64 would round", "REQ-DE-07", reflect.TypeFor[any](),
		`{"V":0.1000000000000000055}`, `{"V":0.1000000000000000055}`, `{"V":0.1}`,
	},
	{
		"a number without the quotes of option string", "REQ-DE-07", reflect.TypeFor[struct {
			N int `json:",string"`
		}](), `{"V":{"N":1}}`, `{"V":{"N":"1"}}`,
		"refused: json: invalid use of ,string struct tag, trying to unmarshal unquoted value into int",
	},
	{
		"a value for a type of database/sql", "B8", reflect.TypeFor[sql.NullString](), `{"V":"x"}`,
		`{"V":{"String":"x","Valid":true}}`,
		"refused: json: cannot unmarshal string into Go struct field .V of type sql.NullString",
	},
	{
		"the struct of a type of database/sql", "B8", reflect.TypeFor[sql.NullString](),
		`{"V":{"String":"x","Valid":true}}`, "refused: V: expected string, got object", `{"V":{"String":"x","Valid":true}}`,
	},
	{
		"a number in quotes", "REQ-VO-05", reflect.TypeFor[json.Number](), `{"V":"1"}`,
		"refused: V: expected number, got string", `{"V":1}`,
	},
	{"null in quotes", "REQ-VO-05", reflect.TypeFor[struct {
		N int `json:",string"`
	}](), `{"V":{"N":"null"}}`, "refused: V.N: expected integer in quotes, got string", `{"V":{"N":"0"}}`},
	{
		"a time before the year 0 in UTC", "REQ-DE-04", reflect.TypeFor[time.Time](), `{"V":"0000-01-01T00:00:00+01:00"}`,
		"refused: V: expected date-time, got string", `{"V":"0000-01-01T00:00:00+01:00"}`,
	},
	{
		"an embedded pointer to an unexported struct", "design §3.3", reflect.TypeFor[struct{ *base }](),
		`{"V":{"id":"x"}}`, `{"V":{"id":"x","name":""}}`,
		"refused: json: cannot set embedded pointer to unexported struct: codec_test.base",
	},
	{
		"something after the value", "T-89", reflect.TypeFor[int](), `{"V":1}{}`,
		"refused: something follows the JSON value (byte 7)", "refused: invalid character '{' after top-level value",
	},
}

// A11: the values that requests carry.
func TestReadDifferences(t *testing.T) {
	for _, c := range readDifferences {
		t.Run(c.name, func(t *testing.T) {
			show := func(value reflect.Value, err error) string {
				if err != nil {
					return "refused: " + err.Error()
				}
				return oracle(t, value.Interface())
			}
			codecs := newCodecs(t, c.goType)
			got := show(codecs.decode(c.text))
			value := reflect.New(codecs.box)
			theirs := show(value, json.Unmarshal([]byte(c.text), value.Interface()))
			if diff := cmp.Diff([]string{c.want, c.theirs}, []string{got, theirs}); diff != "" {
				t.Errorf("-want +got, codec and encoding/json:\n%s", diff)
			}
		})
	}
}

// writeDifferences are all the ways in which a result is written otherwise than encoding/json would (without its
// escaping of HTML, REQ-RS-09), and why.
var writeDifferences = []struct {
	name, why    string
	value        any
	want, theirs string
}{
	{"a nil list is empty", "REQ-RS-09, T-89", [][]string{nil}, `{"V":[[]]}`, `{"V":[null]}`},
	{"a nil map is empty", "REQ-RS-09, A2", []map[string]int{nil}, `{"V":[{}]}`, `{"V":[null]}`},
	{"a nil map of texts is empty", "REQ-RS-09, A2", []map[string]string{nil}, `{"V":[{}]}`, `{"V":[null]}`},
	{"nil binary data is empty", "REQ-RS-09, A2", [][]byte{nil}, `{"V":[""]}`, `{"V":[null]}`},
	{"a nil list in a dynamic value is empty", "REQ-RS-09, T-89", []any{[]string(nil)}, `{"V":[[]]}`, `{"V":[null]}`},
	{
		"times are in UTC", "REQ-DE-04", time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
		`{"V":"2026-01-02T02:04:05.000000006Z"}`, `{"V":"2026-01-02T03:04:05.000000006+01:00"}`,
	},
	{
		"times in dynamic values are in UTC", "REQ-DE-04",
		map[string]any{"at": time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))},
		`{"V":{"at":"2026-01-02T02:04:05Z"}}`, `{"V":{"at":"2026-01-02T03:04:05+01:00"}}`,
	},
	{
		"a value of database/sql is that value", "B8", sql.Null[float64]{V: 1.5, Valid: true}, `{"V":1.5}`,
		`{"V":{"V":1.5,"Valid":true}}`,
	},
	{"no value of database/sql is null", "B8", sql.NullInt64{}, `{"V":null}`, `{"V":{"Int64":0,"Valid":false}}`},
	{
		"text methods of the pointer are called in maps", "REQ-RS-08", map[string]pointerText{"a": {"x"}},
		`{"V":{"a":"<x>"}}`, `{"V":{"a":{"S":"x"}}}`,
	},
	{"JSON methods of the pointer are called in values", "REQ-RS-08", pointerJSON{5}, `{"V":{"x":5}}`, `{"V":{"X":5}}`},
	{"what is not UTF-8 in raw JSON", "REQ-DE-01", json.RawMessage("\"\xff\""), `{"V":"�"}`, "{\"V\":\"\xff\"}"},
}

func TestWriteDifferences(t *testing.T) {
	for _, c := range writeDifferences {
		t.Run(c.name, func(t *testing.T) {
			codecs := newCodecs(t, reflect.TypeOf(c.value))
			box := reflect.New(codecs.box)
			box.Elem().Field(0).Set(reflect.ValueOf(c.value))
			got, err := codecs.encode(box)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want, c.theirs}, []string{got, oracle(t, box.Elem().Interface())}); diff != "" {
				t.Errorf("-want +got, codec and encoding/json:\n%s", diff)
			}
		})
	}
}

// What JSON cannot spell is an error, as it is in encoding/json.
func TestUnwritable(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	ring := &node{Name: "ring"}
	ring.Left = ring
	for name, value := range map[string]any{
		"a number that is none": math.NaN(), "infinity": math.Inf(1), "raw JSON that is none": json.RawMessage("{"),
		"empty raw JSON": json.RawMessage{}, "a json.Number that is none": json.Number("1x"),
		"a channel in a dynamic value": []any{make(chan int)},
		"a map that holds itself":      loop, "a struct that points to itself": ring,
		"a year beyond 9999":  time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		"a method that fails": failing{}, "a method that panics": panicking{}, "a key that fails": map[failing]int{{}: 1},
	} {
		t.Run(name, func(t *testing.T) {
			codecs := newCodecs(t, reflect.TypeOf(value))
			box := reflect.New(codecs.box)
			box.Elem().Field(0).Set(reflect.ValueOf(value))
			text, err := codecs.encode(box)
			if err == nil {
				t.Errorf("written: %s", text)
			}
			if name == "a method that panics" {
				return // encoding/json panics too
			}
			if _, err := json.Marshal(box.Interface()); err == nil {
				t.Error("encoding/json writes it")
			}
		})
	}
}

// keptJSON keeps the JSON that its method was called with.
type keptJSON struct{ Text string }

func (o keptJSON) MarshalJSON() ([]byte, error)     { return json.Marshal(o.Text) }
func (o *keptJSON) UnmarshalJSON(text []byte) error { o.Text = string(text); return nil }

type failing struct{}

func (failing) MarshalText() ([]byte, error)     { return nil, errFailing }
func (*failing) UnmarshalText(text []byte) error { return errFailing }

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error)     { panic("no") }
func (*panicking) UnmarshalJSON(text []byte) error { panic("no") }
