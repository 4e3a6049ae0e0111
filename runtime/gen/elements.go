package gen

import "iter"

// Elements returns a sequence in which no error occurs, as aql.Query takes it. Generated code calls it for functions
// that return an iter.Seq.
func Elements[T any](seq iter.Seq[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for element := range seq {
			if !yield(element, nil) {
				return
			}
		}
	}
}
