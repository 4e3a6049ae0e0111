package model

// Computed is the Go function that computes a field of a resource.
type Computed struct {
	Func     string
	Page     bool      // it computes the values of all elements of a page; otherwise it is a method of the resource
	Receiver *Receiver // of a function of a page; nil: it has none
	Context  bool      // the first parameter is a context.Context
	Element  GoType    // the resource
	Value    GoType
}
