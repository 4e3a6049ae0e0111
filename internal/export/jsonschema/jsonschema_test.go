package jsonschema

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/export/exporttest"
	"github.com/aqltag/aqltag/runtime/gen"
)

func library() *gen.Definitions {
	book := gen.Returns{Name: "Book", Kind: gen.KindObject}
	return &gen.Definitions{Name: "library", Operations: []gen.Operation{
		{Name: "get_book", Category: gen.Read, Description: "Gets a <book>.", Returns: book, Params: []gen.Param{
			{Name: "isbn", Type: "string", Required: true},
			{Name: "size", Type: "string", Enum: []string{"s", "l"}, Default: `"s"`},
		}},
		{Name: "find_book", Category: gen.Read, Returns: book},
		{Name: "Find_Book", Category: gen.Read, Returns: book},
		{Name: "burn_books", Category: gen.Delete, Danger: gen.Dangerous},
	}, Types: []gen.Type{
		{Name: "Book", Kind: gen.KindObject, Fields: []gen.Param{{Name: "title", Go: "Title", Type: "string"}}},
		{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
	}}
}

// There is a file for the parameters of each operation, and one for each type that operations return.
func TestFiles(t *testing.T) {
	files, err := Files(library())
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range files {
		all.WriteString("-- " + f.Name + " --\n")
		all.Write(f.Content)
	}
	exporttest.Golden(t, "library.txt", all.Bytes())
}

func TestFilesRefuseWhatIsNotJSON(t *testing.T) {
	a := library()
	a.Operations[0].Params[1].Default = "{"
	if _, err := Files(a); err == nil || !strings.Contains(err.Error(), "get_book") {
		t.Errorf("error %v", err)
	}
}
