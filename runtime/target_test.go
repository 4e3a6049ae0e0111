package aql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

type projectID [2]byte

func (p projectID) MarshalText() ([]byte, error) {
	if p == (projectID{}) {
		return nil, errors.New("no project")
	}
	return fmt.Appendf(nil, "p-%s", p[:]), nil
}

func (p *projectID) UnmarshalText(text []byte) error { copy(p[:], text[2:]); return nil }

type memberRequest struct {
	Project projectID
	Member  int
	Name    string
	Token   string
	Page    *struct{ Slug string }
}

// A15, REQ-ER-04: the failure of a query without rows names what the request identifies, and nothing sensitive.
func TestNoRowsNamesTheTarget(t *testing.T) {
	text := func(name, path string) gen.Field {
		return gen.Field{Name: name, Go: path, Type: "string", Required: true}
	}
	project := text("project_id", "Project")
	member := gen.Field{Name: "member_id", Go: "Member", Type: "integer", Required: true}
	name, token, slug := text("name", "Name"), text("token", "Token"), text("slug", "Page.Slug")
	token.Sensitive = true
	marked := name
	marked.ID = true
	for _, tt := range []struct {
		name, operation string
		category        gen.Category
		params          []gen.Field
		request, want   string
	}{
		{"one identifier", "get_member", gen.Read, []gen.Field{member, name}, `{"member_id":7,"name":"Ada"}`,
			`"Resource 'member' not found: '7'","details":{"resource_type":"member","resource_id":"7"}`},
		{"several, and a type with a text of its own", "get_project_member", gen.Read, []gen.Field{project, member},
			`{"project_id":"p-ab","member_id":7}`,
			`"Resource 'project_member' not found: 'p-ab/7'",` +
				`"details":{"resource_type":"project_member","resource_id":"p-ab/7"}`},
		{"no name like one of an identifier: what is required", "get_page", gen.Read, []gen.Field{slug}, `{"slug":"home"}`,
			`"Resource 'page' not found: 'home'","details":{"resource_type":"page","resource_id":"home"}`},
		{"marked as the identifier", "get_member", gen.Read,
			[]gen.Field{member, marked}, `{"member_id":7,"name":"Pat Smith"}`,
			`"Resource 'member' not found: 'Pat Smith'","details":{"resource_type":"member","resource_id":"Pat Smith"}`},
		{"a sensitive one is not shown", "get_session", gen.Read, []gen.Field{token}, `{"token":"secret"}`,
			`"Resource 'session' not found","details":{"resource_type":"session"}`},
		{"a new resource is not what was not found", "create_member", gen.Create, []gen.Field{name, project},
			`{"name":"Ada","project_id":"p-ab"}`, `"Resource not found"`},
		{"what is executed may need anything", "invite_member", gen.Execute, []gen.Field{member}, `{"member_id":7}`,
			`"Resource not found"`},
		{"an operation of one word", "get", gen.Read, []gen.Field{member}, `{"member_id":7}`, `"Resource not found"`},
		{"no parameters", "list_members", gen.Read, nil, `{}`, `"Resource not found"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			registry := gen.NewRegistry([]gen.Handler{{
				Name: tt.operation, Category: tt.category, Danger: gen.Safe, Params: tt.params, Returns: "Note",
				Request: (*memberRequest)(nil), Result: (*string)(nil),
				Call: func(context.Context, []any, any) (any, error) {
					return nil, fmt.Errorf("reading: %w", sql.ErrNoRows)
				},
			}}, noteTypes)
			adapter, err := New(registry, Options{Name: "notes", Mode: ModeSingle})
			if err != nil {
				t.Fatal(err)
			}
			reply := adapter.NewSession().Call(t.Context(), "mcp_aql",
				[]byte(`{"operation":"`+tt.operation+`","params":`+tt.request+`}`))
			checkOfficial(t, reply.JSON)
			want := `{"success":false,"error":{"code":"NOT_FOUND_RESOURCE","message":` + tt.want + `}}`
			checkText(t, "reply", want, string(reply.JSON))
		})
	}
}

// statusError is an error of a library with the name of a status.
type statusError string

func (e statusError) Error() string { return string(e) }
func (e statusError) Code() string  { return string(e) }

// B3: what a library says of a change or of a state is told as about the resource of the request only where the request
// identifies one.
func TestStatusesNameNoOtherResource(t *testing.T) {
	id := []gen.Field{{Name: "member_id", Go: "Member", Type: "integer", Required: true}}
	const (
		changed = `"CONFLICT_VERSION_MISMATCH","message":"The resource was changed by another request; read it and try again"`
		stopped = `"CONFLICT_VERSION_MISMATCH","message":"The service stopped the operation because of a concurrent change"`
		its     = `"CONFLICT_INVALID_STATE","message":"The state of the resource does not allow it"`
		general = `"CONFLICT_INVALID_STATE","message":"The state of the service does not allow the operation"`
	)
	for _, tt := range []struct {
		category          gen.Category
		params            []gen.Field
		aborted, forState string
	}{
		{gen.Update, id, changed, its}, {gen.Delete, id, changed, its}, {gen.Delete, nil, stopped, general},
		{gen.Create, id, stopped, general}, {gen.Execute, id, stopped, general},
	} {
		for err, want := range map[statusError]string{"aborted": tt.aborted, "failed_precondition": tt.forState} {
			registry := gen.NewRegistry([]gen.Handler{{
				Name: "change_member", Category: tt.category, Danger: gen.Reversible, Params: tt.params, Returns: "Note",
				Request: (*memberRequest)(nil), Result: (*string)(nil),
				Call: func(context.Context, []any, any) (any, error) { return nil, err },
			}}, noteTypes)
			adapter, problem := New(registry, Options{Name: "notes", Mode: ModeSingle})
			if problem != nil {
				t.Fatal(problem)
			}
			request := `{"operation":"change_member","params":{"member_id":7}}`
			if tt.params == nil {
				request = `{"operation":"change_member"}`
			}
			reply := adapter.NewSession().Call(t.Context(), "mcp_aql", []byte(request))
			checkText(t, string(tt.category), `{"success":false,"error":{"code":`+want+`}}`, string(reply.JSON))
		}
	}
}
