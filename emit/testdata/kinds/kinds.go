package kinds

// Status is an enum of another package.
type Status string

const (
	Open   Status = "open"
	Closed Status = "closed"
	hidden Status = "hidden"
)

// Point is a struct of another package.
type Point struct {
	X, Y int
}
