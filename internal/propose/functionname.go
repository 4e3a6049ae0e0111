package propose

import (
	"go/types"

	"github.com/aqltag/aqltag/internal/scan/gotype"
)

// functionName returns the name of a function, with that of its receiver's type in front.
func functionName(fn *types.Func) string {
	if receiver := receiverName(fn); receiver != "" {
		return receiver + "." + fn.Name()
	}
	return fn.Name()
}

// receiverName is the name of the type that a method belongs to, empty for a function.
func receiverName(fn *types.Func) string {
	if named := receiverType(fn); named != nil {
		return named.Obj().Name()
	}
	return ""
}

// receiverType is the type that a method belongs to, nil for a function.
func receiverType(fn *types.Func) *types.Named {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := gotype.Pointee(recv.Type())
	named, _ := t.(*types.Named)
	return named
}
