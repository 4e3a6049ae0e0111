package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

var document = `{"title":"Write the quarterly report","notes":"` + strings.Repeat("Ask Ada for the numbers first. ", 20) +
	`","priority":"high","due_at":"2026-03-01T09:00:00Z","tags":["work","finance","ada"],"estimate":90,"metadata":{"color":"red","labels":{"team":"core","year":"2026"}}}`

// BenchmarkRead reads and checks everything, beside encoding/json doing less.
func BenchmarkRead(b *testing.B) {
	b.Run("wire", func(b *testing.B) {
		var r Reader
		b.ReportAllocs()
		b.SetBytes(int64(len(document)))
		for b.Loop() {
			r.Reset(document, Limits{MaxStringLength: 1 << 20, MaxArrayElements: 10000, MaxDepth: 32})
			r.Skip()
			r.End()
			if r.Fault() != nil {
				b.Fatal(r.Fault())
			}
		}
	})
	b.Run("json.Valid", func(b *testing.B) {
		data := []byte(document)
		b.ReportAllocs()
		b.SetBytes(int64(len(document)))
		for b.Loop() {
			if !json.Valid(data) {
				b.Fatal("not valid")
			}
		}
	})
}
