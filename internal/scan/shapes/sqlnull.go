package shapes

import (
	"go/types"
	"strings"
)

// isSQLNull reports whether t is sql.Null[T], sql.NullString or another type of database/sql that holds a value or
// null.
func isSQLNull(t types.Type) bool {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "database/sql" ||
		!strings.HasPrefix(named.Obj().Name(), "Null") {
		return false
	}
	st, ok := t.Underlying().(*types.Struct)
	return ok && st.NumFields() == 2 && st.Field(1).Name() == "Valid"
}
