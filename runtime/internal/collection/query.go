// Package collection answers what a request asks of a collection: it filters, orders and cuts a page out of the
// elements of a slice or of an iterator (MCP-AQL operations §4.4, collection querying §2).
//
// Elements are read at offsets in memory that package codec has held against their Go type. A comparison with a missing
// value is false, and its opposite true, so that a filter and its negation together are all elements.
package collection

// Query is the part of aql.Query[T] that requests fill in. The scanner and package codec know it by its place.
type Query[T any] struct {
	Filter Filter[T] `json:"filter"`
	Text   string    `json:"query"`
	Sort   Sort[T]   `json:"sort"`
	First  int       `json:"first" aql:"min=0"`
	After  string    `json:"after"`
	Last   int       `json:"last" aql:"min=0"`
	Before string    `json:"before"`

	Page     int `json:"page" aql:"min=1"`
	PageSize int `json:"page_size" aql:"min=1"`
	Limit    int `json:"limit" aql:"min=0"`
	Offset   int `json:"offset" aql:"min=0"`

	Aggregate    map[string]Summary[T] `json:"aggregate" aql:"minitems=1,maxitems=10"`
	IncludeItems bool                  `json:"include_items"`

	Bound *Bound `json:"-"` // of a request that is valid
}

// Filter says which elements a request asks for.
type Filter[T any] struct {
	_     [0]*T // package codec finds T here
	Given Conditions
}

// Conditions are those that all have to hold.
type Conditions struct {
	Node *Node // nil: there are none
}

// Sort says in which order a request asks for elements.
type Sort[T any] struct {
	Field string `json:"field" aql:"required"`
	Order string `json:"order" aql:"enum=asc|desc,default=asc"`
}

// Summary says what a request wants to know of the elements that match, under one label (MCP-AQL aggregations §2). The
// texts are names of fields; empty: it does not want that.
type Summary[T any] struct {
	Count   bool   `json:"count"`
	GroupBy string `json:"group_by"`
	Sum     string `json:"sum"`
	Avg     string `json:"avg"`
	Min     string `json:"min"`
	Max     string `json:"max"`
}
