package audit_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

type discard struct{}

func (discard) Write(context.Context, []audit.Record) error { return nil }
func (discard) Close() error                                { return nil }

func BenchmarkLogWrite(b *testing.B) {
	for _, bb := range []struct {
		name string
		wait bool
		sink func(b *testing.B) audit.Sink
	}{
		{"queued, no sink's cost", false, func(*testing.B) audit.Sink { return discard{} }},
		{"waited for, no sink's cost", true, func(*testing.B) audit.Sink { return discard{} }},
		{
			"queued, file", false, func(b *testing.B) audit.Sink { return open(b, filepath.Join(b.TempDir(), "audit"), secret) },
		},
		{
			"waited for, file", true,
			func(b *testing.B) audit.Sink { return open(b, filepath.Join(b.TempDir(), "audit"), secret) },
		},
	} {
		for _, parallel := range []int{1, 64} {
			b.Run(bb.name+"/"+map[int]string{1: "one", 64: "64 writers"}[parallel], func(b *testing.B) {
				l := audit.New(audit.Options{Sinks: []audit.Sink{bb.sink(b)}, Wait: bb.wait})
				defer l.Close(context.Background())
				ctx, r := b.Context(), full()
				r.ID = 0
				b.ReportAllocs()
				if parallel == 1 {
					for b.Loop() {
						if err := l.Write(ctx, r); err != nil {
							b.Fatal(err)
						}
					}
					return
				}
				b.SetParallelism(parallel)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := l.Write(ctx, r); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}
