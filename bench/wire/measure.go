package wire

import "testing"

// Measure runs a candidate in a loop of b.
func Measure(b *testing.B, c Candidate) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Run(); err != nil {
			b.Fatalf("%s: %v", c.Name, err)
		}
	}
}
