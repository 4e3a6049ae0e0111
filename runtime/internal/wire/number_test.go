package wire

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// outcome spells the one problem of r: "type integer number", "maximum 127".
func outcome(r *Reader) string {
	switch p := r.Problems(); {
	case r.Fault() != nil:
		return r.Fault().Error()
	case len(p) == 0:
		return ""
	case len(p) > 1:
		return fmt.Sprint(p)
	case p[0].Stage == StageType:
		return fmt.Sprintf("type %s %s", p[0].Expected, p[0].Actual)
	default:
		return fmt.Sprintf("%s %s", p[0].Rule, p[0].Limit)
	}
}

// REQ-VO-05, REQ-DE-07: integers are exact, whatever their spelling; nothing is coerced.
func TestInt(t *testing.T) {
	for _, tt := range []struct {
		input   string
		bits    int
		want    int64
		problem string
	}{
		{"0", 0, 0, ""}, {"-0", 0, 0, ""}, {"7", 0, 7, ""}, {"9007199254740993", 0, 9007199254740993, ""},
		{"999999999999999999", 0, 999999999999999999, ""}, {"-999999999999999999", 0, -999999999999999999, ""},
		{"1000000000000000000", 0, 1000000000000000000, ""},
		{"9223372036854775807", 64, 9223372036854775807, ""}, {"-9223372036854775808", 64, -9223372036854775808, ""},
		{"9223372036854775808", 64, 0, "maximum 9223372036854775807"},
		{"-9223372036854775809", 64, 0, "minimum -9223372036854775808"},
		{"1.0", 0, 1, ""}, {"1e2", 0, 100, ""}, {"1E+2", 0, 100, ""}, {"100e-2", 0, 1, ""}, {"1200e-2", 0, 12, ""},
		{"0.00e5", 0, 0, ""},
		{"-0.0", 0, 0, ""}, {"12.5e1", 0, 125, ""}, {"0.0005e4", 0, 5, ""}, {"0e99999999999999999999", 0, 0, ""},
		{"0.0e-99999999999999999999", 0, 0, ""}, {"1e0000000000000000000000001", 0, 10, ""},
		{"9223372036854775.807e3", 0, 9223372036854775807, ""}, {"-922337203685477580800e-2", 0, -9223372036854775808, ""},
		{"9.223372036854775808e18", 0, 0, "maximum 9223372036854775807"},
		{"1.5", 0, 0, "type integer number"}, {"1e-1", 0, 0, "type integer number"},
		{"9223372036854775807.5", 0, 0, "type integer number"},
		{"1e-999999999999999999999", 0, 0, "type integer number"}, {"10e-18446744073709551615", 0, 0, "type integer number"},
		{"1e999999999999999999999", 0, 0, "maximum 9223372036854775807"}, {"-1e400", 0, 0, "minimum -9223372036854775808"},
		{"1e18446744073709551616", 0, 0, "maximum 9223372036854775807"},
		{"1e9223372036854775807", 0, 0, "maximum 9223372036854775807"},
		{"127", 8, 127, ""}, {"128", 8, 0, "maximum 127"}, {"-128", 8, -128, ""}, {"-129", 8, 0, "minimum -128"},
		{"1.28e2", 8, 0, "maximum 127"},
		{"32767", 16, 32767, ""}, {"32768", 16, 0, "maximum 32767"}, {"-2147483648", 32, -2147483648, ""},
		{"-2147483649", 32, 0, "minimum -2147483648"},
		{`"5"`, 0, 0, "type integer string"}, {"true", 0, 0, "type integer boolean"}, {"null", 0, 0, "type integer null"},
		{"[1]", 0, 0, "type integer array"}, {`{"a":1}`, 0, 0, "type integer object"},
	} {
		r := NewReader(tt.input, Limits{})
		got, ok := r.Int(tt.bits)
		r.End()
		if problem := outcome(r); got != tt.want || problem != tt.problem || ok != (tt.problem == "") {
			t.Errorf("Int(%d) of %s: %d, %v, %q; want %d, %q", tt.bits, tt.input, got, ok, problem, tt.want, tt.problem)
		}
	}
}

func TestUint(t *testing.T) {
	for _, tt := range []struct {
		input   string
		bits    int
		want    uint64
		problem string
	}{
		{"0", 0, 0, ""}, {"-0", 0, 0, ""}, {"-0.0", 0, 0, ""}, {"18446744073709551615", 64, 18446744073709551615, ""},
		{"18446744073709551616", 64, 0, "maximum 18446744073709551615"}, {"-1", 0, 0, "minimum 0"},
		{"-1e30", 0, 0, "minimum 0"},
		{"255", 8, 255, ""}, {"256", 8, 0, "maximum 255"}, {"65536", 16, 0, "maximum 65535"},
		{"4294967295", 32, 4294967295, ""},
		{"1e19", 64, 10000000000000000000, ""}, {"1.844674407370955161e19", 64, 18446744073709551610, ""},
		{"2e19", 64, 0, "maximum 18446744073709551615"},
		{"0.5", 0, 0, "type integer number"}, {`"1"`, 0, 0, "type integer string"},
	} {
		r := NewReader(tt.input, Limits{})
		got, ok := r.Uint(tt.bits)
		r.End()
		if problem := outcome(r); got != tt.want || problem != tt.problem || ok != (tt.problem == "") {
			t.Errorf("Uint(%d) of %s: %d, %v, %q; want %d, %q", tt.bits, tt.input, got, ok, problem, tt.want, tt.problem)
		}
	}
}

func TestFloat(t *testing.T) {
	for _, tt := range []struct {
		input   string
		bits    int
		want    float64
		problem string
	}{
		{"0.1", 64, 0.1, ""}, {"0.1", 0, 0.1, ""}, {"0.1", 32, float64(float32(0.1)), ""}, {"-1E3", 64, -1000, ""},
		{"1e-999", 64, 0, ""},
		{"1e309", 64, 0, "maximum 1.7976931348623157e+308"}, {"-1e309", 0, 0, "minimum -1.7976931348623157e+308"},
		{"1e39", 32, 0, "maximum 3.4028235e+38"}, {`"1"`, 64, 0, "type number string"}, {"null", 64, 0, "type number null"},
	} {
		r := NewReader(tt.input, Limits{})
		got, ok := r.Float(tt.bits)
		r.End()
		if problem := outcome(r); got != tt.want || problem != tt.problem || ok != (tt.problem == "") {
			t.Errorf("Float(%d) of %s: %v, %v, %q; want %v, %q", tt.bits, tt.input, got, ok, problem, tt.want, tt.problem)
		}
	}
}

// rational is the exact value of a JSON number, unless it is too large to compute with.
func rational(text string) (*big.Rat, bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if n, err := strconv.Atoi(text[i+1:]); err != nil || n > 500 || n < -500 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// REQ-VO-05: Int and Uint agree with exact arithmetic about what is an integer, what fits, and what it is.
func FuzzInt(f *testing.F) {
	for _, seed := range []string{
		"0", "-0.0", "1.0", "12.5e1", "100e-2", "9223372036854775808", "-9223372036854775808", "18446744073709551616",
		"1e19", "0.0001e23",
	} {
		for _, bits := range []uint8{0, 1, 2, 3} {
			f.Add(seed, bits)
		}
	}
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		if r := NewReader(text, Limits{}); r.Kind() != "number" || r.Raw() != text || r.Fault() != nil {
			return
		}
		want, ok := rational(text)
		if !ok {
			return
		}
		bits := 8 << (width % 4)
		largest := new(big.Int).SetUint64(math.MaxUint64 >> (64 - bits))
		r := NewReader(text, Limits{})
		u, okUint := r.Uint(bits)
		if fits := want.IsInt() && want.Sign() >= 0 && want.Num().Cmp(largest) <= 0; okUint != fits ||
			fits && u != want.Num().Uint64() {
			t.Errorf("Uint(%d) of %s: %d, %v; exactly %s", bits, text, u, okUint, want)
		}
		r.Reset(text, Limits{})
		largest.Rsh(largest, 1)
		smallest := new(big.Int).Not(largest)
		i, okInt := r.Int(bits)
		if fits := want.IsInt() && want.Num().Cmp(smallest) >= 0 && want.Num().Cmp(largest) <= 0; okInt != fits ||
			fits && i != want.Num().Int64() {
			t.Errorf("Int(%d) of %s: %d, %v; exactly %s", bits, text, i, okInt, want)
		}
		if stage := r.Problems(); !okInt && (stage[0].Stage == StageType) == want.IsInt() {
			t.Errorf("Int(%d) of %s: %+v", bits, text, stage)
		}
	})
}
