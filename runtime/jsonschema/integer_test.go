package jsonschema

import (
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
)

// A pattern of integers matches those within the bounds, in their one spelling, and nothing else (A13).
func TestPatternOfIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bounds := [][2]int64{
		{-128, 127}, {0, 255}, {-32768, 32767}, {0, 65535}, {-1 << 31, 1<<31 - 1}, {0, 1<<32 - 1}, {0, 0}, {0, 2}, {1, 12},
		{7, 7}, {10, 99}, {5, 1000}, {1000, 1999}, {-20, -3}, {-5, 0}, {0, 9}, {100, 99999},
	}
	for range 200 {
		a, b := random.Int64()>>(32+random.IntN(31)), random.Int64()>>(32+random.IntN(31))
		bounds = append(bounds, [2]int64{min(a, -b), max(a, -b)})
	}
	for _, b := range bounds {
		pattern := integerPattern(strconv.FormatInt(b[0], 10), strconv.FormatInt(b[1], 10))
		compiled := regexp.MustCompile(pattern)
		hold := func(v int64) {
			if got, want := compiled.MatchString(strconv.FormatInt(v, 10)), b[0] <= v && v <= b[1]; got != want {
				t.Fatalf("%d to %d: %s matches %d: %t", b[0], b[1], pattern, v, got)
			}
		}
		for d := int64(-150); d <= 150; d++ {
			hold(d)
			hold(b[0] + d)
			hold(b[1] + d)
		}
		for range 200 {
			hold(random.Int64() >> random.IntN(60))
		}
		for _, other := range []string{"", "-", "-0", "00", "01", "+1", " 1", "1 ", "1.0", "1e1", "a"} {
			if compiled.MatchString(other) {
				t.Errorf("%d to %d: %s matches %q", b[0], b[1], pattern, other)
			}
		}
	}
}

// Patterns of 64 bits are short: they bound the number of digits.
func TestPatternOfLargeIntegers(t *testing.T) {
	for _, test := range []struct{ low, high, want string }{
		{"", "", "^(?:-(?:[1-9][0-9]{0,18})|0|[1-9][0-9]{0,18})$"},
		{"0", "18446744073709551615", "^(?:0|[1-9][0-9]{0,19})$"},
	} {
		got := integerPattern(test.low, test.high)
		if got != test.want {
			t.Errorf("%q to %q: %s, want %s", test.low, test.high, got, test.want)
		}
		largest := new(big.Int).SetUint64(1<<64 - 1)
		if test.low == "" {
			largest.SetInt64(1<<63 - 1)
		}
		if !regexp.MustCompile(got).MatchString(largest.String()) {
			t.Errorf("%s does not match %s", got, largest)
		}
	}
}
