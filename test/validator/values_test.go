package validator_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
)

// samples lists texts from which values for the fields are made, where random ones would hardly ever be accepted.
var samples = map[string][]string{
	"E164":        {"+12345678", "12345678", "+1234567", "+123456789012345", "+1234567890123456", "02345678", "+"},
	"HexColor":    {"#fff", "#FFFF", "#12345", "#123456", "#1234567", "#12345678", "#ggg", "fff"},
	"Hexadecimal": {"0x1F", "0X", "ff", "fg", ""},
	"Boolean":     {"1", "0", "t", "T", "TRUE", "true", "True", "tRUE", "f", "F", "FALSE", "false", "False", "yes", ""},
	"MD5": {strings.Repeat("a1", 16), strings.Repeat("A1", 16), strings.Repeat("a", 31),
		strings.Repeat("a", 33)},
	"SHA256":  {strings.Repeat("a1", 32), strings.Repeat("g1", 32), strings.Repeat("a", 63)},
	"SHA384":  {strings.Repeat("a1", 48), strings.Repeat("g1", 48), strings.Repeat("a", 95)},
	"SHA512":  {strings.Repeat("a1", 64), strings.Repeat("g1", 64), strings.Repeat("a", 127)},
	"MongoDB": {strings.Repeat("a1", 12), strings.Repeat("A1", 12), strings.Repeat("a", 23)},
	"ULID": {"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav", "81ARZ3NDEKTSV4RRFFQ69G5FAV",
		"01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FA"},
	"DNSLabel":      {"a", "a-b", "a-", "-a", "A", "1a", strings.Repeat("a", 63), strings.Repeat("a", 64), ""},
	"LatitudeText":  {"90", "-90.00", "+89.999", "90.01", "91", "5", "05", "1.", ".5", ""},
	"LongitudeText": {"180", "-180.00", "+179.999", "180.01", "181", "99", "100", "05", "1.", ""},
	"Day":           {"2026-02-04", "2026-02-30", "2024-02-29", "2026-2-4", "04.02.2026", "2026-02-04T10:30:00Z", ""},
	"Moment": {"2026-02-04T10:30:00Z", "2026-02-04T10:30:00.5+05:30", "2026-02-04T24:00:00Z", "2026-02-04T10:30:00",
		"2026-02-04", "yesterday", ""},
	"Days":       {"2026-02-04", "2024-02-29", "2023-02-29", "yesterday"},
	"Numeric":    {"1", "-1.5", "+0", "1.", ".5", "1e3", ""},
	"Eq":         {"ab", "a", "abb", "Ab", ""},
	"EqOr":       {"ab", "a", "b", "c", "abb", ""},
	"OneOf":      {"a", "b c", "b", "'b c'", "ab", ""},
	"StartsWith": {"a.,", "a.,b", "a,,", "ba.,", "a"},
	"EndsWith":   {"b$", "ab$", "b", "b$\n", "$"},
	"Contains":   {"a|b", "xa|by", "ab", "a", ""},
	"ListDeep":   {"a", "b", "a", "b", "c"},
}

// alphabet is what random texts are made of: what rules tell apart.
var alphabet = []string{"a", "b", "Z", "1", "0", " ", "-", "^", "]", `\`, ".", "é", "ß", "Ⅷ", "中", "\t", "\n", "~",
	"\x7f", "٣"}

// fill gives v a random value that JSON can carry.
func fill(random *rand.Rand, v reflect.Value, texts []string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(random, texts))
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{-3, -2, -1, 0, 1, 2, 3, 4, 127, -128, random.Int64N(140_000) - 70_000}[random.IntN(11)])
		if v.Kind() == reflect.Int8 {
			v.SetInt(random.Int64N(256) - 128)
			if random.IntN(2) == 0 {
				v.SetInt(random.Int64N(7) - 3)
			}
		}
	case reflect.Uint:
		v.SetUint(random.Uint64N(6))
	case reflect.Uint16:
		v.SetUint([]uint64{0, 1, 65535, random.Uint64N(65536)}[random.IntN(4)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{-0.5, 1.5, -0.75, 1.75, 0, 90, -90, 90.5, 180, -180, 180.5,
			random.Float64()*4 - 2}[random.IntN(12)])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem(), texts)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(4), 4))
		for i := range v.Len() {
			fill(random, v.Index(i), texts)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(random, v.Index(i), texts)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range random.IntN(4) {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(random, value, texts)
			v.SetMapIndex(reflect.ValueOf(text(random, nil)), value)
		}
	}
}

func text(random *rand.Rand, texts []string) string {
	if texts != nil && random.IntN(4) > 0 {
		return texts[random.IntN(len(texts))]
	}
	var b strings.Builder
	for range random.IntN(5) {
		b.WriteString(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}
