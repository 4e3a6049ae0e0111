package codec_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// random makes values. What it makes of a type is what a JSON text can say, so that a value survives its text.
type random struct {
	*rand.Rand
	zones bool // times in other zones than UTC
}

func newRandom(seed uint64) *random { return &random{Rand: rand.New(rand.NewPCG(seed, 7))} }

// fill makes a value of any type. depth ends recursive types; held: the value is an element of a container, where
// null is no value of lists and maps.
func (r *random) fill(v reflect.Value, depth int, held bool) {
	if v.Kind() != reflect.Pointer && r.special(v, held) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.int64(v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(r.int64(64)) >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.float(v.Type().Bits()))
	case reflect.String:
		v.SetString(r.text())
	case reflect.Interface:
		if value := r.any(depth); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			for ; v.Kind() == reflect.Pointer; v = v.Elem() { // a pointer to nil would be null too
				v.Set(reflect.New(v.Type().Elem()))
			}
			r.fill(v, depth-1, true)
		}
	case reflect.Slice:
		if !held && r.IntN(4) == 0 {
			return
		}
		n := r.length(depth)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			r.fill(v.Index(i), depth-1, true)
		}
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth-1, true)
		}
	case reflect.Map:
		if !held && r.IntN(4) == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range r.length(depth) {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.fill(key, 0, true)
			r.fill(elem, depth-1, true)
			v.SetMapIndex(key, elem)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") == "-" {
				continue
			}
			switch {
			case f.IsExported():
				r.fill(v.Field(i), depth-1, false)
			case f.Anonymous && f.Type.Kind() == reflect.Struct: // its exported fields are promoted
				r.fill(reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Elem(), depth, false)
			}
		}
	}
}

func (r *random) length(depth int) int {
	if depth <= 0 {
		return 0
	}
	return []int{0, 1, 1, 2, 3, 5, 9}[r.IntN(7)]
}

func (r *random) int64(bits int) int64 {
	v := int64(r.Uint64()) >> r.IntN(64)
	switch r.IntN(6) {
	case 0:
		v = math.MaxInt64
	case 1:
		v = math.MinInt64
	case 2:
		v = int64(r.IntN(20)) - 10
		return v << (64 - bits) >> (64 - bits)
	}
	return v >> (64 - bits)
}

func (r *random) float(bits int) float64 {
	v := []float64{
		0, 1, -1.5, 0.1, 1e21, 1e-7, 123456789, 5e-324, math.MaxFloat32, r.NormFloat64() * 1e6, r.Float64(),
	}[r.IntN(11)]
	if bits == 32 {
		v = float64(float32(v))
	}
	return v
}

var words = []string{
	"", "a", "title", "äöü", "日本語", "😀", "<b>&amp;</b>", "quote \" backslash \\ slash /", "line\nbreak\ttab\r\b\f",
	"\u2028\u2029", "\x01\x1f\x7f", "null", "true", "12", "2026-01-02T15:04:05Z", strings.Repeat("long ", 40), "0",
	"\ufffd",
}

func (r *random) text() string {
	text := words[r.IntN(len(words))]
	if r.IntN(3) == 0 {
		text += words[r.IntN(len(words))]
	}
	return text
}

// any makes what encoding/json makes of a text.
func (r *random) any(depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return float64(r.int64(32))
	case n == 3:
		return r.float(64)
	case n == 4 && depth > 0:
		list := make([]any, r.length(depth))
		for i := range list {
			list[i] = r.any(depth - 1)
		}
		return list
	case n == 5 && depth > 0:
		members := map[string]any{}
		for range r.length(depth) {
			members[r.text()] = r.any(depth - 1)
		}
		return members
	default:
		return r.text()
	}
}

func (r *random) time() time.Time {
	at := time.Unix(r.Int64N(4e9)-1e9, r.Int64N(1e9)*int64(r.IntN(2))).UTC()
	if r.zones {
		at = at.In(time.FixedZone("", (r.IntN(24)-12)*1800))
	}
	return at
}

// special fills values of types whose fields cannot be filled one by one.
func (r *random) special(v reflect.Value, held bool) bool {
	set := func(value any) bool { v.Set(reflect.ValueOf(value)); return true }
	raw := func() json.RawMessage {
		for {
			if text, _ := json.Marshal(r.any(2)); string(text) != "null" {
				return text
			}
		}
	}
	addr := func() netip.Addr {
		return []netip.Addr{
			netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1"), netip.AddrFrom4([4]byte{byte(r.IntN(256)), 1, 2, 3}),
		}[r.IntN(3)]
	}
	switch v.Addr().Interface().(type) {
	case *time.Time:
		return set(r.time())
	case *embedsTime:
		return set(embedsTime{Time: r.time()})
	case *json.Number:
		return set(
			json.Number(
				[]string{"0", "-1", "1.50", "12345678901234567890123", "1e400", "-0.0", strconv.Itoa(r.Int())}[r.IntN(7)],
			),
		)
	case *json.RawMessage:
		return set(raw())
	case *big.Int:
		v.Addr().Interface().(*big.Int).Exp(big.NewInt(r.Int64N(1000)), big.NewInt(r.Int64N(30)), nil)
		return true
	case *big.Float:
		v.Addr().Interface().(*big.Float).SetFloat64(r.float(64))
		return true
	case *netip.Addr:
		return set(addr())
	case *netip.Prefix:
		return set(netip.PrefixFrom(addr(), r.IntN(32)))
	case *netip.AddrPort:
		return set(netip.AddrPortFrom(addr(), uint16(r.IntN(1000))))
	case *url.URL:
		return set(url.URL{Scheme: "https", Host: "example.com", Path: r.text(), RawQuery: "a=b"})
	case *hexText:
		return set(hexText{r.text()})
	case *pointerText:
		return set(pointerText{strings.Trim(r.text(), "<>")})
	case *uuid:
		var u uuid
		for i := range u {
			u[i] = byte(r.IntN(256))
		}
		return set(u)
	case *valueJSON:
		return set(valueJSON{r.IntN(9), r.IntN(9)})
	case *level:
		return set([]level{"low", "medium", "high"}[r.IntN(3)])
	case *zeroByValue:
		return set(zeroByValue{6 + r.IntN(2)})
	case *zeroByPointer:
		return set(zeroByPointer{6 + r.IntN(2)})
	case *blob, *[]byte:
		if held || r.IntN(4) > 0 {
			v.SetBytes([]byte(r.text()))
		}
		return true
	}
	return false
}
