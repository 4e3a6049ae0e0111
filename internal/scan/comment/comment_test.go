package comment

import (
	"go/ast"
	"strings"
	"testing"
)

// A doc comment becomes a description without the name it begins with and without directives.
func TestDescribe(t *testing.T) {
	tests := []struct{ comment, name, want string }{
		{"// CreateTodo adds a todo.", "CreateTodo", "Adds a todo."},
		{"// Todo is a thing to do.", "Todo", "A thing to do."},
		{"// Low is urgent.", "Low", "Is urgent."},
		{"// Todos are what there is to do.", "Todos", "What there is to do."},
		{"// Title", "Title", "Title"},
		{"// Titles of todos.", "Title", "Titles of todos."},
		{"// Title of the todo.", "Title", "Title of the todo."},
		{"// What has to be done", "Title", "What has to be done"},
		{
			"// Get reads\n// one thing.\n//\n// Then it ends.\n//\n//aql:reason None", "Get",
			"Reads one thing.\n\nThen it ends.",
		},
		{"// Get reads:\n//   - one\n//   - two", "Get", "Reads:\n  - one\n  - two"},
		{"/* Get reads. */", "Get", "Reads."},
		{"// Get a note.", "Get", "Get a note."},
		{"// List all notes.", "List", "List all notes."},
		{"// Delete note", "Delete", "Delete note"},
		{"// List returns all notes.", "List", "Returns all notes."},
		{"// ListNotes all notes.", "ListNotes", "All notes."},
		{"// Edit (update) a note.", "Edit", "Edit (update) a note."},
		{"// Note élan.", "Note", "Élan."},
		{"//aql:op category=READ", "Get", ""},
		{"// B12: +optional", "Get", "B12: +optional"},
		{"// Get reads.\n// +optional", "Get", "Reads."}, // B12, in all of these
		{"// +kubebuilder:validation:Minimum=1\n// +required\n// Size in bytes", "Size", "Size in bytes"},
		{"// Get reads\n// +listType=set\n// one thing.\n//\n// +k8s:x", "Get", "Reads one thing."},
		{"// +optional", "Get", ""},
		{"// Get reads.\n//\n// @Summary Reads\n// @Router /x [get]", "Get", "Reads."},
		{"// swagger:model thing\n// Thing is a thing.", "Thing", "A thing."},
		{"// Get reads.\n// nolint:errcheck\n//nolint:gosec\n//go:noinline", "Get", "Reads."},
		{"// + 5 or more", "Get", "+ 5 or more"},
		{"// Get reads:\n//\n//\t+optional", "Get", "Reads:\n\n\t+optional"},
		{"// @here is where it is", "Get", "@here is where it is"},
	}
	for _, tt := range tests {
		group := &ast.CommentGroup{}
		if strings.HasPrefix(tt.comment, "/*") {
			group.List = append(group.List, &ast.Comment{Text: tt.comment})
		} else {
			for line := range strings.SplitSeq(tt.comment, "\n") {
				group.List = append(group.List, &ast.Comment{Text: line})
			}
		}
		if got := Describe(group, tt.name); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.comment, got, tt.want)
		}
	}
	if got := Describe(nil, "Get"); got != "" {
		t.Errorf("no comment: got %q", got)
	}
}
