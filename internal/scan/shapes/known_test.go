package shapes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/sourcetest"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// B8, REQ-DE-05: types of known libraries that write themselves have the form that is known of them, whatever the major
// version of their module.
func TestKnownForms(t *testing.T) {
	tests := map[string]struct {
		path, name string
		want       *gen.Param
	}{
		"time wrapper": {
			"k8s.io/apimachinery/pkg/apis/meta/v1", "Time",
			&gen.Param{Type: "string", Format: "date-time", Nullable: true},
		},
		"major version": {
			"github.com/jackc/pgx/v5/pgtype", "Date", &gen.Param{Type: "string", Format: "date", Nullable: true},
		},
		"version of gopkg.in":       {"gopkg.in/guregu/null.v4", "Bool", &gen.Param{Type: "boolean", Nullable: true}},
		"version in the last place": {"github.com/guregu/null/v6", "Int", &gen.Param{Type: "integer", Nullable: true}},
		"integer or string": {"k8s.io/apimachinery/pkg/util/intstr", "IntOrString", &gen.Param{
			Type: "any", Format: "int-or-string", Description: "An integer, or a text such as 25%.",
		}},
		"another name":    {"github.com/jackc/pgx/v5/pgtype", "Mystery", nil},
		"another library": {"example.com/pgtype", "Date", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			own := formOf(t, tt.path, "package foreign\n\ntype "+tt.name+" struct{ hidden int }\n\n"+
				"func ("+tt.name+") MarshalJSON() ([]byte, error) { return nil, nil }\n", tt.name)
			if diff := cmp.Diff(tt.want, own); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// formOf returns what is known of a type in a package with this source.
func formOf(t *testing.T, path, source, name string) *gen.Param {
	t.Helper()
	program, own := sourcetest.Check(t, path, map[string]string{path: source})
	shape, fault := shapes.NewMaker(program, tags.NewReader(program), own).Of(own.Scope().Lookup(name).Type(), "")
	if fault != nil {
		t.Fatal(fault.Message)
	}
	return shape.Own
}
