package codec_test

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

// What is read by way of offsets and unsafe pointers must be visible to the garbage collector at every moment: values
// stay whole while it runs all the time.
func TestValuesSurviveTheGarbageCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	c := newCodecs(t, reflect.TypeFor[everything]())
	m := newMerger[everything](t)
	stop := make(chan struct{})
	var collector, readers sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for worker := range uint64(8) {
		readers.Go(func() {
			for round := range uint64(10) {
				seed := worker*1000 + round
				box, source := reflect.New(c.box), newRandom(seed)
				source.fill(box.Elem(), 5, false)
				text := oracle(t, box.Interface())
				value, err := c.decode(text)
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 { // fresh memory to be mistaken for what was lost
					_, _ = c.decode(text)
				}
				if got := oracle(t, value.Interface()); got != text {
					t.Error("a value changed after it was read")
					return
				}
				target := reflect.New(m.goType)
				newRandom(seed+1).fill(target.Elem(), 4, false)
				patch := source.patch(t, m.goType, target)
				want := canonical(t, reference(t, m.goType, target, patch))
				p, err := m.read(patch)
				if err != nil || !apply(p, p.Raw(), target) || canonical(t, target) != want {
					t.Errorf("merged otherwise than alone: %v", err)
					return
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	collector.Wait()
}
