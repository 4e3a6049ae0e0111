package propose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scantest"
)

// Methods of a strict server are proposed like other functions, and what is in the path of a request identifies what it
// is about, whatever its name. The failures that are responses of their own make no result (B8).
func TestStrictServersAreProposed(t *testing.T) {
	const responses = `
type XRequestObject struct {
	Shelf string \x60json:"shelf"\x60
	Slot  int    \x60json:"slot"\x60
	Body  *struct {
		Title *string \x60json:"title,omitempty"\x60
	}
}

type XResponseObject interface{ VisitXResponse(w http.ResponseWriter) error }

type X200JSONResponse struct{ Title string }

func (X200JSONResponse) VisitXResponse(w http.ResponseWriter) error { return nil }

type X404Response struct{}

func (X404Response) VisitXResponse(w http.ResponseWriter) error { return nil }

// X is about a book.
func (*Server) X(ctx context.Context, request XRequestObject) (XResponseObject, error) { return nil, nil }
`
	text := "-- books.go --\npackage books\n\nimport (\n\t\"context\"\n\t\"net/http\"\n)\n\ntype Server struct{}\n"
	for _, name := range []string{"GetBook", "CreateBook", "UpdateBook", "DeleteBook"} {
		text += strings.ReplaceAll(responses, "X", name)
	}
	got := make(map[string]string)
	for _, c := range proposals(t, scantest.Write(t, strings.ReplaceAll(text, `\x60`, "`"))).Packages[0].Candidates {
		got[c.Operation] = strings.Join(append(c.Directives, c.Identifiers...), " ")
	}
	want := map[string]string{
		"get_book":    "//aql:op category=READ,danger=safe shelf slot",
		"create_book": "//aql:op category=CREATE,danger=reversible",
		"update_book": "//aql:op category=UPDATE,danger=reversible shelf slot",
		"delete_book": "//aql:op category=DELETE,danger=destructive shelf slot",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}
