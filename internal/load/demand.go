package load

import (
	"go/ast"
	"go/token"
	"os"
	"strings"
)

// demand parses the files of packages from export data, each when it is first needed.
type demand struct {
	fset   *token.FileSet
	goroot string // comments of the standard library are not read
	files  map[string]*parsed
}

type parsed struct {
	syntax *ast.File
	err    error
}

func newDemand(fset *token.FileSet, goroot string) *demand {
	return &demand{fset: fset, goroot: goroot, files: make(map[string]*parsed)}
}

func (d *demand) real(pos token.Pos) (token.Pos, *ast.File, error) {
	piece := d.fset.File(pos)
	if piece == nil {
		return pos, nil, nil
	}
	filename, base, ok := exportedFile(piece.Name())
	if !ok {
		return pos, nil, nil
	}
	file := d.parse(filename)
	if file.err != nil {
		return pos, nil, file.err
	}
	whole := d.fset.File(file.syntax.FileStart)
	offset := base + piece.Offset(pos)
	if offset > whole.Size() {
		return pos, nil, unusual("%s has changed", filename)
	}
	return whole.Pos(offset), file.syntax, nil
}

func (d *demand) parse(filename string) *parsed {
	if file := d.files[filename]; file != nil {
		return file
	}
	file := new(parsed)
	d.files[filename] = file
	content, err := os.ReadFile(filename)
	if err == nil {
		file.syntax, err = parseEmptied(d.fset, filename, content, d.goroot == "" || !strings.HasPrefix(filename, d.goroot))
	}
	if err != nil {
		file.err = unusual("%v", err)
	}
	return file
}
