package otel

import (
	"strconv"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

func name(k ended) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String(operationName, k.name)}
}

// A set is made once for its key, however many goroutines ask for it first, and asking for it again allocates nothing.
func TestSets(t *testing.T) {
	const keys, goroutines = 20, 8
	var all sets[ended]
	var found [goroutines][keys]*measured
	var asking sync.WaitGroup
	for g := range goroutines {
		asking.Go(func() {
			for k := range keys {
				found[g][k] = all.of(ended{strconv.Itoa(k), "X"}, name)
			}
		})
	}
	asking.Wait()
	for k, first := range found[0] {
		set := metric.NewAddConfig(first.add).Attributes()
		if value, ok := set.Value(operationName); !ok || value.AsString() != strconv.Itoa(k) {
			t.Errorf("key %d has the attributes %v", k, set.ToSlice())
		}
		if recorded := metric.NewRecordConfig(first.record).Attributes(); !recorded.Equals(&set) {
			t.Errorf("key %d is recorded with %v", k, recorded.ToSlice())
		}
		for g := range goroutines {
			if found[g][k] != first {
				t.Errorf("key %d has two sets", k)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { all.of(ended{"7", "X"}, name) }); n != 0 {
		t.Errorf("%g allocations for a set that is there", n)
	}
}
