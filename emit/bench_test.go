package emit_test

import (
	"fmt"
	"go/format"
	"testing"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// many is a package of n operations.
func many(n int) *model.Package {
	pkg := notes()
	pkg.Handlers, pkg.Guards = nil, nil
	for i := range n {
		name := fmt.Sprintf("Get%d", i)
		request := fmt.Sprintf("Get%dRequest", i)
		o := operation(fmt.Sprintf("get_%d", i))
		guard := model.Guard{Type: goType(request), Whole: true}
		for j := range 6 {
			field := fmt.Sprintf("Field%d", j)
			o.Params = append(
				o.Params,
				gen.Param{
					Name: fmt.Sprintf("field_%d", j), Go: field, Type: "string", Required: j == 0, MaxLength: 200,
					Description: "What the field is about",
				},
			)
			guard.Fields = append(guard.Fields, model.GuardField{Name: field, Type: goType("string")})
		}
		pkg.Handlers = append(
			pkg.Handlers,
			model.Handler{
				Operation: o, Func: name, Context: true, Receiver: &model.Receiver{Type: "Service", Pointer: true},
				Request: goType(request), Result: goType("string"),
			},
		)
		pkg.Guards = append(pkg.Guards, guard)
	}
	return pkg
}

// BenchmarkFile shows what appending text as gofmt lays it out saves over having it formatted.
func BenchmarkFile(b *testing.B) {
	pkg := many(1000)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := emit.File(pkg); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append, then go format", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			content, err := emit.File(pkg)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := format.Source(content); err != nil {
				b.Fatal(err)
			}
		}
	})
}
