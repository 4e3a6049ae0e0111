package emit_test

import (
	"fmt"
	"go/format"
	"testing"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/model"
)

// thousand is a package of 1000 operations with ten parameters each.
func thousand() *model.Package {
	pkg := &model.Package{Path: testModule + "/big", Name: "big"}
	for i := range 1000 {
		name := fmt.Sprintf("Operation%d", i)
		point := object("big", "Point"+name, field("X", "x", integer(0)), field("Y", "y", integer(0), required))
		request := object("big", name+"Request", field("Title", "title", text(), required), field("Point", "point", pointer(point)))
		for j := range 8 {
			request.Fields = append(request.Fields, field(fmt.Sprintf("F%d", j), fmt.Sprintf("f%d", j), slice(text()), param(func(p *model.Param) {
				p.Type, p.Description, p.MaxItems, p.Items = "array", "What it is for", 20, &model.Param{Type: "string", MaxLength: 10}
			})))
		}
		for _, f := range request.Fields {
			request.Guard = append(request.Guard, guardField(f.Selector[0], "[]string"))
		}
		pkg.Handlers = append(pkg.Handlers, handler(name, model.Read, fmt.Sprintf("operation_%d", i), request, pointer(point)))
	}
	return pkg
}

// BenchmarkFile shows what appending text costs beside what formatting it afterwards would add.
func BenchmarkFile(b *testing.B) {
	pkg := thousand()
	content, err := emit.File(pkg)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("append", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := emit.File(pkg); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gofmt", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := format.Source(content); err != nil {
				b.Fatal(err)
			}
		}
	})
}
