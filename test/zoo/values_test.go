package zoo_test

import (
	"database/sql"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"time"

	"github.com/aqltag/aqltag/test/zoo/other"
	"github.com/aqltag/aqltag/test/zoo/shapes"
)

// samples make values of types whose fields are hidden, or of which not every value is meant.
var samples = map[reflect.Type]func(r *rand.Rand) any{}

func sample[T any](values ...T) {
	samples[reflect.TypeFor[T]()] = func(r *rand.Rand) any { return values[r.IntN(len(values))] }
}

func init() {
	east := time.FixedZone("", 5*3600+1800)
	sample(time.Time{}, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), time.Date(1999, 12, 31, 23, 59, 59, 123456789, east),
		time.Date(9999, 1, 1, 0, 0, 0, 1000, time.UTC))
	sample[json.Number]("", "0", "-12", "1.50", "6e23", "9007199254740993")
	sample(json.RawMessage(nil), json.RawMessage(`{"a":[1,2]}`), json.RawMessage(`null`), json.RawMessage(` "x" `))
	large, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	sample(*big.NewInt(0), *big.NewInt(7), *large)
	sample(*big.NewFloat(0), *big.NewFloat(1.25), *big.NewFloat(-3e100))
	sample(*big.NewRat(0, 1), *big.NewRat(-7, 3))
	sample(net.IP(nil), net.IPv4(10, 0, 0, 1), net.IPv4(10, 0, 0, 1).To4(), net.ParseIP("2001:db8::1"))
	sample(netip.Addr{}, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1%eth0"))
	sample(netip.AddrPort{}, netip.MustParseAddrPort("10.0.0.1:80"), netip.MustParseAddrPort("[::1]:443"))
	sample(netip.Prefix{}, netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"))
	samples[reflect.TypeFor[*regexp.Regexp]()] = func(r *rand.Rand) any {
		return []*regexp.Regexp{nil, regexp.MustCompile("^a+$"), regexp.MustCompile("")}[r.IntN(3)]
	}
	sample(sql.NullTime{}, sql.NullTime{Time: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Valid: true})
	sample[shapes.Color]("", shapes.Red, shapes.Green)
	sample(shapes.None, shapes.Some)
	sample[other.Suit]("", other.Hearts, other.Spades)
	sample(shapes.Tiny, shapes.Medium, shapes.Huge)
	sample[shapes.Mode](0, shapes.Read, shapes.Write|shapes.Execute)
	sample[shapes.Grade]("A", "z")
	sample(shapes.Tags{"a"}, shapes.Tags{"a", "b"})
	sample[shapes.Celsius](0, 21.5)
}

// texts are what strings are made of: also what must be escaped, and what HTML would not carry.
var texts = []string{"", "a", "Zoë", "日本", "<&>", "\"\\/", "\t\n\x01", "\u2028", "😀", "0", "null", "2026-03-01"}

// fill gives v a random value, deep no deeper.
func fill(r *rand.Rand, v reflect.Value, deep int) {
	t := v.Type()
	if make, ok := samples[t]; ok {
		v.Set(reflect.ValueOf(make(r)))
		return
	}
	if get, ok := t.MethodByName("Get"); ok && t.Kind() == reflect.Struct && get.Type.NumOut() == 2 { // aql.Optional
		inner := reflect.New(get.Type.Out(0)).Elem()
		fill(r, inner, deep-1)
		if text, err := json.Marshal(inner.Interface()); err == nil && r.IntN(4) > 0 {
			_ = v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text)
		}
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(64) * int64(r.IntN(3)-1) >> (64 - t.Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(r.Uint64() >> r.IntN(64) >> (64 - t.Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64([]float32{0, 1, -2.5, 0.1, 3e30, -1e-30, 16777216, r.Float32()}[r.IntN(8)]))
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Interface:
		if v.NumMethod() > 0 {
			fillChoice(r, v, deep)
			return
		}
		if any := []any{nil, "x", 1.5, true, []any{nil, "y"}, map[string]any{"k": nil}}[r.IntN(6)]; any != nil {
			v.Set(reflect.ValueOf(any))
		}
	case reflect.Pointer:
		if deep > 0 && r.IntN(4) > 0 {
			v.Set(reflect.New(t.Elem()))
			fill(r, v.Elem(), deep-1)
		}
	case reflect.Slice:
		if deep > 0 && r.IntN(5) > 0 {
			v.Set(reflect.MakeSlice(t, r.IntN(3), 3))
			fillAll(r, v, deep)
		}
	case reflect.Array:
		fillAll(r, v, deep)
	case reflect.Map:
		if deep > 0 && r.IntN(5) > 0 {
			v.Set(reflect.MakeMap(t))
			for range r.IntN(3) {
				key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				fill(r, key, deep-1)
				fill(r, value, deep-1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if v.Field(i).CanSet() {
				fillField(r, t.Field(i), v.Field(i), deep-1)
			}
		}
	}
}

// formatted matches the aql tag of a text with a format, which its random values have too, or are empty.
var formatted = regexp.MustCompile(`format=(date(?:-time)?)\b`)

// fillField is fill for a field of a struct.
func fillField(r *rand.Rand, field reflect.StructField, v reflect.Value, deep int) {
	fill(r, v, deep)
	format := formatted.FindStringSubmatch(field.Tag.Get("aql"))
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if format == nil || v.Kind() != reflect.String {
		return
	}
	length := map[string]int{"date": len(time.DateOnly), "date-time": len("2006-01-02T15:04:05Z")}[format[1]]
	v.SetString([]string{"", "2026-03-01T09:00:00Z"[:length]}[r.IntN(2)])
}

func fillAll(r *rand.Rand, v reflect.Value, deep int) {
	for i := range v.Len() {
		fill(r, v.Index(i), deep-1)
	}
}
