package todo

import (
	"context"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
)

// SearchTodosRequest tells what to look for.
type SearchTodosRequest struct {
	_     struct{} `aql:"category=READ"`
	Query string   `json:"query" aql:"required,minlen=1,maxlen=200"` // Words to look for in title, notes and tags
	PageRequest
	aql.Fields
}

// SearchTodos finds the todos that contain every word of the query, newest first.
//
//aql:example {"query":"milk"} Everything about milk
func (s *Service) SearchTodos(ctx context.Context, req SearchTodosRequest) (*TodoPage, error) {
	selected := selection{sort: newestFirst}
	for _, word := range strings.Fields(req.Query) {
		pattern := containing(word)
		selected.where(`(title LIKE ? ESCAPE '\' OR notes LIKE ? ESCAPE '\'
			OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value LIKE ? ESCAPE '\'))`, pattern, pattern, pattern)
	}
	return s.page(ctx, selected, req.PageRequest)
}

// containing is the LIKE pattern for text with a word somewhere in it.
func containing(word string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(word) + "%"
}
