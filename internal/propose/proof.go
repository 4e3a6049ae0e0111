package propose

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// key finds a function among the bodies.
func key(fn *types.Func) string { return functionName(fn) }

// provesReading returns why a function only reads, empty if nothing proves it. The proof fails on an assignment through
// a pointer, to a field or element of what others may see, or to a variable of the package; on channels and goroutines;
// and on a call of what is not known to read.
func (b *Bodies) provesReading(fn *types.Func) string {
	if b == nil {
		return ""
	}
	f := b.functions[key(fn)]
	if f == nil || !f.mentionsInput() || !f.reads(make(map[*frame]bool)) {
		return ""
	}
	return "its body only reads"
}

// mentionsInput reports whether the body mentions something that exists outside: a stub that returns nothing but
// constants proves nothing of what it will do.
func (f *frame) mentionsInput() bool {
	found := false
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			from, local := f.locals[name.Name]
			_, variable := f.pkg.Scope().Lookup(name.Name).(*types.Var)
			found = found || local && from == receiver || local && from == parameter && !f.isContext(name.Name) ||
				!local && variable && !strings.HasPrefix(strings.ToLower(name.Name), "err")
		}
		return !found
	})
	return found
}

// isContext reports whether a parameter is the context.
func (f *frame) isContext(name string) bool {
	list := f.decl.Type.Params.List
	if len(list) == 0 || len(list[0].Names) == 0 || list[0].Names[0].Name != name {
		return false
	}
	t, ok := list[0].Type.(*ast.SelectorExpr)
	return ok && t.Sel.Name == "Context"
}

// reads reports whether a function only reads. active are the functions that are being looked at.
func (f *frame) reads(active map[*frame]bool) bool {
	if active[f] {
		return true
	}
	active[f] = true
	ok := true
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.GoStmt, *ast.SelectStmt:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.IncDecStmt:
			ok = ok && f.mayAssign(n.X)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				ok = ok && (n.Tok == token.DEFINE || f.mayAssign(left))
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				ok = ok && (e == nil || n.Tok == token.DEFINE || f.mayAssign(e))
			}
			ok = ok && !f.isChannel(n.X)
		case *ast.CallExpr:
			ok = ok && f.mayCall(n, active)
		case *ast.Ident: // also a function that is handed on
			if _, local := f.locals[n.Name]; !local {
				if fn, function := f.pkg.Scope().Lookup(n.Name).(*types.Func); function {
					g := f.functions[fn.Name()]
					ok = ok && g != nil && g.reads(active)
				}
			}
		case *ast.SelectorExpr:
			if g := f.own(n); g != nil {
				ok = ok && g.reads(active)
			}
		}
		return ok
	})
	return ok
}

// mayAssign reports whether an assignment changes nothing that others see.
func (f *frame) mayAssign(e ast.Expr) bool {
	e = ast.Unparen(e)
	if name, ok := e.(*ast.Ident); ok {
		_, local := f.locals[name.Name]
		_, variable := f.pkg.Scope().Lookup(name.Name).(*types.Var)
		return local && !variable || name.Name == "_"
	}
	return f.rootOf(e, 1) == fresh
}

// own is the method of the receiver's type that an expression names.
func (f *frame) own(s *ast.SelectorExpr) *frame {
	if f.decl.Recv == nil || f.rootOf(s.X, 0) != receiver {
		return nil
	}
	return f.functions[declaredReceiver(f.decl)+"."+s.Sel.Name]
}

// isChannel reports whether a field of the receiver is a channel or an iterator, or may be.
func (f *frame) isChannel(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || f.rootOf(s.X, 0) != receiver {
		return false
	}
	object := f.pkg.Scope().Lookup(declaredReceiver(f.decl))
	if object == nil {
		return true
	}
	field, _, _ := types.LookupFieldOrMethod(object.Type(), true, f.pkg, s.Sel.Name)
	if field == nil {
		return true
	}
	switch field.Type().Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array, *types.Basic, *types.Pointer:
		return false
	}
	return true
}

// mayCall reports whether a call is known to read. What it hands over is looked at on its own.
func (f *frame) mayCall(call *ast.CallExpr, active map[*frame]bool) bool {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.FuncLit, *ast.InterfaceType:
		return true // a conversion, or a body that is looked at
	case *ast.Ident:
		return f.mayCallName(fun.Name, call)
	case *ast.SelectorExpr:
		if path := f.packageOf(fun.X); path != "" {
			if _, conversion := f.imported(path, fun.Sel.Name).(*types.TypeName); conversion {
				return true
			}
			return f.isPure(path, fun.Sel.Name, call)
		}
		if g := f.own(fun); g != nil {
			return g.reads(active)
		}
		return f.mayCallMethod(fun, call)
	}
	return false
}

func (f *frame) mayCallName(name string, call *ast.CallExpr) bool {
	if from, local := f.locals[name]; local {
		return from == literal
	}
	switch f.pkg.Scope().Lookup(name).(type) {
	case *types.TypeName, *types.Func: // the function is looked at where it is named
		return true
	case nil:
		_, conversion := types.Universe.Lookup(name).(*types.TypeName)
		switch name {
		case "len", "cap", "make", "new", "min", "max", "panic":
			return true
		case "append":
			return f.rootOf(call.Args[0], 0) == fresh || isLiteral(call.Args[0])
		case "copy", "delete", "clear":
			return f.rootOf(call.Args[0], 0) == fresh
		}
		return conversion
	default:
		return false
	}
}

// isLiteral reports whether an expression is a value written out or converted: append([]T(nil), list...).
func isLiteral(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		_, conversion := e.Fun.(*ast.ArrayType)
		return conversion && len(e.Args) == 1
	}
	return false
}

// mayCallMethod knows methods by their names, where these are used for one thing only.
func (f *frame) mayCallMethod(s *ast.SelectorExpr, call *ast.CallExpr) bool {
	switch s.Sel.Name {
	case "Lock", "Unlock", "RLock", "RUnlock":
		return len(call.Args) == 0 && isMutex(s.X)
	case "Error", "String", "IsZero", "UTC", "Unix", "UnixMilli", "Seconds":
		return len(call.Args) == 0
	case "Before", "After", "Equal", "Compare", "Format", "Sub": // of times; a driver's Format may be of a disk
		return len(call.Args) == 1 && !f.shared(s.X)
	case "Next", "Err", "Close":
		return len(call.Args) == 0 && f.rootOf(s.X, 0) == rows
	case "Scan":
		if of, ok := ast.Unparen(s.X).(*ast.CallExpr); f.rootOf(s.X, 0) != rows && (!ok || !f.selects(of)) {
			return false
		}
		return !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return !f.isFreshAddress(arg) })
	}
	return f.selects(call)
}

// isFreshAddress reports whether an expression is the address of a variable of the function, or of a field of one.
func (f *frame) isFreshAddress(e ast.Expr) bool {
	address, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && address.Op == token.AND && f.rootOf(address.X, 1) == fresh
}

// isPure reports whether a function of the standard library changes nothing. Those that change their first argument
// change nothing that others see if the function made it.
func (f *frame) isPure(path, name string, call *ast.CallExpr) bool {
	in := func(names string) bool { return slices.Contains(strings.Fields(names), name) }
	switch path {
	case "strings", "strconv", "errors", "math", "math/bits", "unicode", "unicode/utf8", "path", "cmp", "html",
		"net/netip",
		"net/url", "regexp", "encoding/hex", "encoding/base64", "crypto/sha256", "bytes":
		return true
	case "fmt":
		return in("Sprint Sprintf Sprintln Errorf")
	case "time":
		return in("Now Since Until Date Parse ParseInLocation ParseDuration Unix UnixMilli")
	case "os":
		return in("ReadFile ReadDir Stat Lstat Getenv LookupEnv Getwd Hostname")
	case "path/filepath":
		return in("Join Base Dir Ext Clean Rel Abs IsAbs IsLocal Match Glob Split ToSlash FromSlash")
	case "maps":
		return in("Keys Values All Clone Collect Equal EqualFunc")
	case "context":
		return in("Background TODO WithValue")
	case "encoding/json":
		reads := name == "Unmarshal" && len(call.Args) == 2 && f.isFreshAddress(call.Args[1])
		return reads || in("Marshal MarshalIndent Valid")
	case "slices", "sort":
		if in("Sort SortFunc SortStableFunc Reverse Delete DeleteFunc Insert Compact CompactFunc Replace Slice SliceStable " +
			"Strings Ints Float64s Stable") {
			return len(call.Args) > 0 && f.rootOf(call.Args[0], 0) == fresh
		}
		return true
	}
	return false
}

// writes returns what in the body of a function visibly writes, empty if nothing does: "calls Delete".
func (b *Bodies) writes(fn *types.Func) string {
	if b == nil || b.functions[key(fn)] == nil {
		return ""
	}
	f := b.functions[key(fn)]
	found := ""
	note := func(text string) {
		if found == "" {
			found = text
		}
	}
	target := func(e ast.Expr) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			if f.shared(e) && f.locals[e.Name] != receiver {
				note("assigns " + e.Name)
			}
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
			_, index := e.(*ast.IndexExpr)
			if f.shared(e) && (f.pointer || index) {
				note("assigns " + types.ExprString(e))
			}
		}
	}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			if f.shared(n.Chan) {
				note("sends on a channel")
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if n.Tok != token.DEFINE {
					target(left)
				}
			}
		case *ast.CallExpr:
			note(f.writingCall(n))
		}
		return found == ""
	})
	return found
}

// writingCall returns what a call visibly writes, empty if nothing.
func (f *frame) writingCall(call *ast.CallExpr) string {
	for _, arg := range call.Args {
		method, _ := f.text(arg)
		if s, ok := arg.(*ast.SelectorExpr); ok && f.packageOf(s.X) == "net/http" {
			method = strings.ToUpper(strings.TrimPrefix(s.Sel.Name, "Method"))
		}
		switch method {
		case "POST", "PUT", "PATCH", "DELETE":
			return "sends a " + method + " request"
		}
	}
	name := ""
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = fun.Name
		if f.builtin(name) && name == "delete" && len(call.Args) > 0 && f.shared(call.Args[0]) {
			return "deletes from " + types.ExprString(call.Args[0])
		}
		return ""
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		path := f.packageOf(fun.X)
		if strings.HasPrefix(name, "Exec") && path == "" && f.rootOf(fun.X, 0) != fresh {
			return "calls " + name
		}
		if strings.HasPrefix(name, "Query") && len(call.Args) > 0 {
			for _, arg := range call.Args[:min(2, len(call.Args))] {
				text, _ := f.text(arg)
				if word := writingStatement(text); word != "" {
					return "runs " + word
				}
			}
		}
		if path != "" && f.isPure(path, name, call) || path == "" && !f.shared(fun.X) {
			return ""
		}
	}
	verb := firstWord(name)
	switch verb {
	case "delete", "remove", "destroy", "drop", "purge", "truncate", "erase", "wipe", "insert", "update", "upsert", "save",
		"put", "post", "patch", "create", "send", "mkdir", "rename", "publish", "revoke", "unlink", "evict", "deregister":
		return "calls " + name
	}
	if strings.HasPrefix(name, "WriteFile") {
		return "calls " + name
	}
	return ""
}

// isMutex reports whether an expression is called as mutexes are: s.mu, s.cacheLock.
func isMutex(e ast.Expr) bool {
	name := strings.ToLower(lastName(e))
	return strings.HasSuffix(name, "mu") || strings.HasSuffix(name, "mutex") || strings.HasSuffix(name, "lock")
}

// lastName is the name of a variable, or of the field that a selector ends with; empty: it is another expression.
func lastName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
