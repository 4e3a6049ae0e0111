//go:build unix

package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// The server is on the same machine and does not wait for its disk: this is what the calls cost, without network and
// disk.
func BenchmarkStore(b *testing.B) {
	server := postgrestest.Start(b)
	s := open(b, server.Location())
	put(b, s, "get", "a value of forty bytes, as tokens have it", 0, time.Hour)
	var number atomic.Int64
	window := func(key string) store.Claim { return store.Claim{Key: key, N: 1, Window: time.Hour} }
	for _, test := range []struct {
		name string
		call func() error
	}{
		{"Get", func() error { _, err := s.Get(b.Context(), "get"); return err }},
		{"PutCreate", func() error {
			_, err := s.Put(b.Context(), fmt.Sprint("create/", number.Add(1)), []byte("a value"), 0, time.Hour)
			return err
		}},
		{"PutReplace", func() error {
			key := fmt.Sprint("replace/", number.Add(1))
			version, err := s.Put(b.Context(), key, []byte("a value"), 0, 0)
			if err == nil {
				_, err = s.Put(b.Context(), key, []byte("another"), version, 0)
			}
			return err
		}},
		{"Ask", func() error {
			_, err := s.Take(b.Context(), []store.Claim{{Key: "ask", Limit: 5, Window: time.Hour}})
			return err
		}},
		{"TakeOfOneCounter", func() error { _, err := s.Take(b.Context(), []store.Claim{window("one")}); return err }},
		{"TakeOfManyCounters", func() error {
			_, err := s.Take(b.Context(), []store.Claim{window(fmt.Sprint("many/", number.Add(1)%1000))})
			return err
		}},
		{"TakeOfFourAtOnce", func() error {
			_, err := s.Take(b.Context(), []store.Claim{window("a"), window("b"), window("c"), window("d")})
			return err
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := test.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(test.name+"Parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := test.call(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
