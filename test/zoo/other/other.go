// Package other has types that a service takes from elsewhere.
package other

// Point is a place.
type Point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// Shape shares its name with a type of package shapes.
type Shape struct {
	Corners []Point `json:"corners"`
}

// Hidden has a field that only this package sees.
type Hidden struct {
	Seen   string `json:"seen"`
	unseen string
}

// Set makes use of the field.
func (h *Hidden) Set(s string) string {
	old := h.unseen
	h.unseen = s
	return old
}

// Suit is an enum of another package.
type Suit string

// The suits.
const (
	Hearts Suit = "hearts"
	Spades Suit = "spades"
)

// Box holds anything.
type Box[T any] struct {
	In T `json:"in"`
}
