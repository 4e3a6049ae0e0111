package load

import (
	"context"
	"runtime"
	"sync"
)

// inOrder calls run for every item after all that the item depends on, several at once. It does not handle import
// cycles.
func inOrder[T comparable](ctx context.Context, items []T, dependencies func(T) []T, run func(T)) error {
	waiting := make(map[T]int)    // dependencies that are not done
	dependents := make(map[T][]T) // items that wait for an item
	var ready []T
	for _, item := range items {
		needed := dependencies(item)
		waiting[item] = len(needed)
		for _, other := range needed {
			dependents[other] = append(dependents[other], item)
		}
		if len(needed) == 0 {
			ready = append(ready, item)
		}
	}
	var (
		mu      sync.Mutex
		changed = sync.NewCond(&mu)
		running int
		done    int
		workers sync.WaitGroup
	)
	for range min(max(runtime.GOMAXPROCS(0), 2), len(items)) {
		workers.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(ready) == 0 && running > 0 {
					changed.Wait()
				}
				if len(ready) == 0 || ctx.Err() != nil {
					changed.Broadcast()
					return
				}
				item := ready[0]
				ready = ready[1:]
				running++
				mu.Unlock()
				run(item)
				mu.Lock()
				running--
				done++
				for _, next := range dependents[item] {
					if waiting[next]--; waiting[next] == 0 {
						ready = append(ready, next)
					}
				}
				changed.Broadcast()
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if done < len(items) {
		return unusual("an import cycle")
	}
	return nil
}
