package sqlite

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

func BenchmarkGet(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"))
	if _, err := s.Put(b.Context(), "token/a", make([]byte, 300), 0, time.Hour); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(b.Context(), "token/a"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPut is what a disk needs to have a change for good (synchronous=FULL).
func BenchmarkPut(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"))
	var version store.Version
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if version, err = s.Put(b.Context(), "token/a", make([]byte, 300), version, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTake is a change that the operating system has (synchronous=NORMAL).
func BenchmarkTake(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"))
	for _, bench := range []struct {
		name   string
		claims []store.Claim
	}{
		{"one", []store.Claim{{Key: "quota/a", N: 1, Limit: 1 << 40, Window: time.Minute}}},
		{"three", []store.Claim{
			{Key: "quota/a", N: 1, Limit: 1 << 40, Window: time.Minute},
			{Key: "quota/b", N: 1, Limit: 1 << 40, Window: time.Hour},
			{Key: "quota/c", N: 1, Limit: 1 << 40, Ends: time.Now().Add(time.Hour)},
		}},
		{"refused", []store.Claim{{Key: "quota/a", N: 1, Limit: 1, Window: time.Minute}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Take(b.Context(), bench.claims); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("in parallel", func(b *testing.B) {
		var refused atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				counts, err := s.Take(b.Context(), []store.Claim{{Key: "quota/a", N: 1, Limit: 1 << 40, Window: time.Minute}})
				if err != nil {
					b.Error(err)
				} else if counts[0].Refused {
					refused.Add(1)
				}
			}
		})
		if refused.Load() > 0 {
			b.Errorf("%d were refused", refused.Load())
		}
	})
}

// BenchmarkOpen is what a process pays when it starts.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	open(b, path)
	for b.Loop() {
		s, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
