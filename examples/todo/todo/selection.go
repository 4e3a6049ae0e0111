package todo

import (
	"context"
	"database/sql"
	"strings"
)

// largestPage bounds a page; who asks for more gets this many.
const largestPage = 100

var newestFirst = TodoSort{Field: ByCreatedAt, Order: Descending}

// selection is a query for todos.
type selection struct {
	conditions []string
	args       []any
	sort       TodoSort
}

// where adds a condition and the values of its placeholders.
func (s *selection) where(condition string, args ...any) {
	s.conditions = append(s.conditions, condition)
	s.args = append(s.args, args...)
}

// from is the FROM clause with the conditions.
func (s *selection) from() string {
	if len(s.conditions) == 0 {
		return " FROM todos"
	}
	return " FROM todos WHERE " + strings.Join(s.conditions, " AND ")
}

// orderBy is the ORDER BY clause. It orders todos that are equal too, so that pages do not overlap.
func (s *selection) orderBy() string {
	direction := " ASC"
	if s.sort.Order == Descending {
		direction = " DESC"
	}
	var key string
	switch s.sort.Field {
	case ByUpdatedAt:
		key = "updated_at"
	case ByDueAt:
		return " ORDER BY due_at" + direction + " NULLS LAST, seq" + direction
	case ByTitle:
		key = "title COLLATE NOCASE"
	case ByPriority:
		key = "CASE priority WHEN 'low' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END"
	default:
		key = "created_at"
	}
	return " ORDER BY " + key + direction + ", seq" + direction
}

// page reads one page of a selection, and the length of the whole, in one look at the database.
func (s *Service) page(ctx context.Context, selected selection, page PageRequest) (*TodoPage, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()

	var total int
	if err := tx.QueryRowContext(ctx, "SELECT count(*)"+selected.from(), selected.args...).Scan(&total); err != nil {
		return nil, err
	}
	limit := min(page.Limit, largestPage)
	query := "SELECT " + columns + selected.from() + selected.orderBy() + " LIMIT ? OFFSET ?"
	rows, err := tx.QueryContext(ctx, query, append(selected.args, limit, page.Offset)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	result := &TodoPage{Pagination: Pagination{Limit: limit, Offset: page.Offset, TotalItems: total}}
	for rows.Next() {
		todo, err := scanTodo(rows)
		if err != nil {
			return nil, err
		}
		result.Items = append(result.Items, *todo)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	result.Pagination.Returned = len(result.Items)
	result.Pagination.HasMore = page.Offset+len(result.Items) < total
	return result, nil
}
