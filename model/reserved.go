package model

// The names of the generated functions that make the registry of a package: of the receivers of its handlers, and of
// functions that choose the receivers of each call, where there are any.
const (
	Constructor = "NewRegistry"
	Choosing    = "NewRegistryFor"
)

// Predeclared lists the identifiers of Go's universe that generated code relies on. A package with operations must not
// declare them.
func Predeclared() []string { return []string{"any", "error", "false", "new", "nil", "string", "true"} }
