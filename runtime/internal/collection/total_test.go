package collection

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// number returns a random number of any magnitude.
func number(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return float64(r.IntN(200)-100) / 8
	case 1:
		return math.Float64frombits(r.Uint64N(1<<52)) * float64(1-2*r.IntN(2)) // subnormal
	case 2:
		return math.MaxFloat64 * float64(1-2*r.IntN(2)) * r.Float64()
	default:
		for {
			if v := math.Float64frombits(r.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
				return v
			}
		}
	}
}

// The sum of floating-point numbers is the float64 next to what they are, whatever their order.
func TestSumsOfFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	field := &Field{Kind: Float, Bits: 64}
	for range 2000 {
		numbers := make([]float64, r.IntN(12))
		want := new(big.Rat)
		for i := range numbers {
			numbers[i] = number(r)
			if i > 0 && r.IntN(4) == 0 {
				numbers[i] = -numbers[i-1]
			}
			want.Add(want, new(big.Rat).SetFloat64(numbers[i]))
		}
		next, _ := want.Float64()
		for range 3 {
			var total Total
			for i := range numbers {
				total.add(field, unsafe.Pointer(&numbers[i]))
			}
			got, isFloat := total.Sum().(float64)
			if len(numbers) == 0 {
				if total.Sum() != int64(0) || total.Mean() != nil {
					t.Fatalf("of nothing: %v, %v", total.Sum(), total.Mean())
				}
				continue
			}
			if isFloat == math.IsInf(next, 0) || isFloat && got != next {
				t.Fatalf("%v: %v, want %v", numbers, total.Sum(), next)
			}
			mean, _ := new(big.Rat).Quo(want, big.NewRat(int64(len(numbers)), 1)).Float64()
			if math.Abs(mean) > 1e-300 && total.Mean() != mean {
				t.Fatalf("mean of %v: %v, want %v", numbers, total.Mean(), mean)
			}
			r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		}
	}
}

// What is no number makes the sum none.
func TestSumsBeyondNumbers(t *testing.T) {
	field := &Field{Kind: Float, Bits: 64}
	for _, tt := range []struct{ numbers, want []float64 }{
		{[]float64{1, math.Inf(1)}, []float64{math.Inf(1)}},
		{[]float64{math.Inf(-1), 2}, []float64{math.Inf(-1)}},
		{[]float64{math.Inf(1), math.Inf(-1), 3}, nil},
		{[]float64{math.NaN()}, nil},
	} {
		var total Total
		for i := range tt.numbers {
			total.add(field, unsafe.Pointer(&tt.numbers[i]))
		}
		for _, got := range []any{total.Sum(), total.Mean()} {
			v, ok := got.(float64)
			if !ok || tt.want == nil && !math.IsNaN(v) || tt.want != nil && v != tt.want[0] {
				t.Errorf("%v: %v, want %v", tt.numbers, got, tt.want)
			}
		}
	}
}

// The sum of integers is exact, and of 64 bits where it fits.
func TestSumsOfIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var total Total
		field := []*Field{{Kind: Int, Bits: 64}, {Kind: Uint, Bits: 64}}[r.IntN(2)]
		want, n := new(big.Int), 1+r.IntN(9)
		for range n {
			v := r.Uint64() >> r.IntN(64)
			exact := new(big.Int).SetUint64(v)
			if field.Kind == Int {
				exact.SetInt64(int64(v))
			}
			if want.Add(want, exact); r.IntN(2) == 0 {
				total.add(field, unsafe.Pointer(&v))
			} else if !total.AddIntegers(exact, 1) { // as a database says
				t.Fatalf("%v is refused", exact)
			}
		}
		switch got := total.Sum().(type) {
		case int64:
			if !want.IsInt64() || got != want.Int64() {
				t.Fatalf("%v, want %v", got, want)
			}
		default:
			if want.IsInt64() || got != want.String() {
				t.Fatalf("%v, want %v", got, want)
			}
		}
		mean, _ := new(big.Rat).SetFrac(want, big.NewInt(int64(n))).Float64()
		if total.Mean() != mean {
			t.Fatalf("mean %v, want %v", total.Mean(), mean)
		}
	}
}

// So many integers have no such sum.
func TestSumsThatCannotBe(t *testing.T) {
	for bits, count := range map[uint]int{64: 0, 65: 1, 80: 1 << 10, 126: 1 << 30} {
		for _, sign := range []int64{1, -1} {
			sum := new(big.Int).Lsh(big.NewInt(sign), bits)
			if total := new(Total); total.AddIntegers(sum, count) {
				t.Errorf("%d integers have the sum %v", count, sum)
			}
		}
	}
}
