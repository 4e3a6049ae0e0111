package wire

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// compare compares two numbers; false: one is not a number.
func compare(a, b string) (int, bool) {
	x, fine := ParseDecimal(a)
	y, ok := ParseDecimal(b)
	return x.Compare(y), fine && ok
}

func TestDecimalsCompareExactly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	number := func() string {
		most := []int64{1, 10, 1000, 1 << 60}[random.IntN(4)]
		text := []string{"", "-"}[random.IntN(2)] + strconv.FormatInt(random.Int64N(1+most), 10)
		if random.IntN(2) == 0 {
			text += "." + []string{"0", "00", "5", "50", "05", "123"}[random.IntN(6)]
		}
		if random.IntN(2) == 0 {
			text += []string{"e0", "E1", "e+2", "e-1", "e-2"}[random.IntN(5)]
		}
		return text
	}
	for range 20_000 {
		a, b := number(), number()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		d, valid := ParseDecimal(a)
		if !valid || d.Integral() != x.IsInt() {
			t.Fatalf("%s: %v, an integer: %v", a, valid, d.Integral())
		}
		if got, ok := compare(a, b); !ok || got != x.Cmp(y) {
			t.Fatalf("%s against %s: %d %v, want %d", a, b, got, ok, x.Cmp(y))
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"9007199254740993", "9007199254740992", 1}, {"1e999999999999999999999", "2", 1},
		{"-1e999999999999999999999", "2", -1},
		{"1e-999999999999999999999", "0", 1}, {"0e999999999999999999999", "-0", 0}, {"1.0", "1", 0}, {"100e-2", "1", 0},
	} {
		if got, ok := compare(tt.a, tt.b); !ok || got != tt.want {
			t.Errorf("%s against %s: %d %v", tt.a, tt.b, got, ok)
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, text := range []string{"0", "-1.50e+3", "01", ".5", "1.", "1e", "0x1", "+1", "1_0", "NaN", "-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var number json.Number
		want := json.Unmarshal([]byte(text), &number) == nil && string(number) == text
		if _, ok := ParseDecimal(text); ok != want {
			t.Errorf("%q is a number: %v, want %v", text, ok, want)
		}
	})
}
