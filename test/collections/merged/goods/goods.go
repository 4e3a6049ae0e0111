// Package goods has a type that two packages of operations return.
package goods

// Good is a good.
type Good struct {
	GoodID string `json:"good_id" aql:"id"`
}

// Owner owns a good.
type Owner struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
}
