package otel

import (
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// measured is what is measured with one set of attributes, as the API wants it, so that measuring allocates nothing.
type measured struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

func newMeasured(attributes []attribute.KeyValue) *measured {
	set := metric.WithAttributeSet(attribute.NewSet(given(attributes)...))
	return &measured{[]metric.RecordOption{set}, []metric.AddOption{set}}
}

// sets are sets of attributes, made once for each key. There are as many keys as operations, codes and words. They are
// read without a lock, and without the allocation of a key that sync.Map makes.
type sets[K comparable] struct {
	known atomic.Pointer[map[K]*measured] // replaced as a whole
	mutex sync.Mutex                      // of who replaces it
}

// of returns what is measured with the set of a key, which attributes makes.
func (s *sets[K]) of(key K, attributes func(K) []attribute.KeyValue) *measured {
	if known := s.known.Load(); known != nil {
		if m := (*known)[key]; m != nil {
			return m
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	next := make(map[K]*measured)
	if known := s.known.Load(); known != nil {
		if m := (*known)[key]; m != nil { // another call was faster
			return m
		}
		next = maps.Clone(*known)
	}
	next[key] = newMeasured(attributes(key))
	s.known.Store(&next)
	return next[key]
}
