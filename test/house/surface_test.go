package house_test

import (
	"fmt"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/test/proxy"
)

// publicPackages loads the packages of the released modules that other modules may import.
func publicPackages(t *testing.T) []*packages.Package {
	t.Helper()
	var patterns []string
	for _, folder := range proxy.Released {
		patterns = append(patterns, path.Join(module, folder)+"/...")
	}
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: repository(t),
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedModule,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	var public []*packages.Package
	for _, pkg := range loaded {
		for _, fault := range pkg.Errors {
			t.Fatal(fault)
		}
		if pkg.Name != "main" && !isInternal(pkg.PkgPath) && isReleased(pkg.Module.Path) {
			public = append(public, pkg)
		}
	}
	return public
}

func isReleased(modulePath string) bool {
	return slices.ContainsFunc(proxy.Released, func(folder string) bool { return path.Join(module, folder) == modulePath })
}

func isInternal(pkgPath string) bool {
	return strings.HasPrefix(pkgPath, module) && slices.Contains(strings.Split(pkgPath, "/"), "internal")
}

// What a user can name must be documented for users: an internal type in the signature of an exported function, method,
// field or variable is neither.
func TestNoExportedSignatureNamesAnInternalType(t *testing.T) {
	count := 0
	for _, pkg := range publicPackages(t) {
		scope := pkg.Types.Scope()
		for _, name := range scope.Names() {
			object := scope.Lookup(name)
			if !object.Exported() {
				continue
			}
			count++
			for _, found := range internalTypes(object) {
				t.Errorf("%s.%s names the internal type %s", pkg.PkgPath, found.where, found.name)
			}
			if named, ok := object.Type().(*types.Named); ok && isType(object) {
				for method := range named.Methods() {
					if method.Exported() {
						count++
					}
				}
			}
		}
	}
	t.Logf("%d exported functions, types, methods, variables and constants", count)
}

func isType(object types.Object) bool {
	_, ok := object.(*types.TypeName)
	return ok
}

// mention is an internal type in a declaration.
type mention struct{ where, name string }

// internalTypes lists the internal types that a reader of an exported declaration meets.
func internalTypes(object types.Object) []mention {
	var found []mention
	seen := map[types.Type]bool{}
	var visit func(where string, t types.Type)
	each := func(where string, tuple *types.Tuple) {
		for v := range tuple.Variables() {
			visit(where, v.Type())
		}
	}
	visit = func(where string, t types.Type) {
		switch t := t.(type) {
		case *types.Alias:
			if declared := t.Obj().Pkg(); declared != nil && isInternal(declared.Path()) {
				found = append(found, mention{where, t.String()})
			}
			for argument := range t.TypeArgs().Types() {
				visit(where, argument)
			}
		case *types.Named:
			if declared := t.Obj().Pkg(); declared != nil && isInternal(declared.Path()) {
				found = append(found, mention{where, t.String()})
			}
			for argument := range t.TypeArgs().Types() {
				visit(where, argument)
			}
		case *types.Pointer:
			visit(where, t.Elem())
		case *types.Slice:
			visit(where, t.Elem())
		case *types.Array:
			visit(where, t.Elem())
		case *types.Chan:
			visit(where, t.Elem())
		case *types.Map:
			visit(where, t.Key())
			visit(where, t.Elem())
		case *types.Signature:
			each(where, t.Params())
			each(where, t.Results())
			for parameter := range t.TypeParams().TypeParams() {
				visit(where, parameter.Constraint())
			}
		case *types.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for field := range t.Fields() {
				if field.Exported() {
					visit(where+"."+field.Name(), field.Type())
				}
			}
		case *types.Interface:
			if seen[t] {
				return
			}
			seen[t] = true
			for method := range t.Methods() {
				visit(where+"."+method.Name(), method.Type())
			}
		}
	}
	name, ok := object.(*types.TypeName)
	if !ok {
		visit(object.Name(), object.Type())
		return found
	}
	if name.IsAlias() {
		visit(name.Name(), types.Unalias(object.Type()))
		return found
	}
	visit(name.Name(), object.Type().Underlying())
	if named, ok := object.Type().(*types.Named); ok {
		for method := range named.Methods() {
			if method.Exported() {
				visit(fmt.Sprintf("%s.%s", name.Name(), method.Name()), method.Type())
			}
		}
	}
	return found
}
