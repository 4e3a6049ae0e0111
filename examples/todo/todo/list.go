package todo

import (
	"context"
	"fmt"
	"strings"
)

// conditions is a WHERE clause in the making.
type conditions struct {
	clauses []string
	args    []any
}

func (c *conditions) add(clause string, args ...any) {
	c.clauses = append(c.clauses, clause)
	c.args = append(c.args, args...)
}

func (c *conditions) String() string {
	if len(c.clauses) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.clauses, " AND ")
}

// orders has the ORDER BY term of each sort field. Todos without a due date come last.
var orders = map[SortField]string{
	ByCreatedAt: "created_at",
	ByUpdatedAt: "updated_at",
	ByDueAt:     "due_at IS NULL, due_at",
	ByTitle:     "title COLLATE NOCASE",
	ByPriority:  "CASE priority WHEN 'low' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END",
}

// list returns a page of the todos that meet the filter and contain any word of the query.
func (s *Service) list(ctx context.Context, filter Filter, query string, sort *Sort, page Page) (*TodoPage, error) {
	var where conditions
	if filter.Status != "" {
		where.add("status = ?", filter.Status)
	}
	if filter.Priority != "" {
		where.add("priority = ?", filter.Priority)
	}
	if filter.Tag != "" {
		where.add("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", filter.Tag)
	}
	if words := strings.Fields(query); len(words) > 0 {
		var any conditions
		for _, word := range words {
			any.add("instr(lower(title || ' ' || notes || ' ' || tags), lower(?)) > 0", word)
		}
		where.add("("+strings.Join(any.clauses, " OR ")+")", any.args...)
	}
	order := "created_at"
	if sort != nil {
		order = orders[sort.Field]
		if sort.Order == Descending {
			order += " DESC"
		}
	}

	result := &TodoPage{Items: []Todo{}, Pagination: Pagination{Limit: page.Limit, Offset: page.Offset}}
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM todos"+where.String(), where.args...).Scan(&result.Pagination.TotalItems); err != nil {
		return nil, fmt.Errorf("counting todos: %w", err)
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM todos"+where.String()+" ORDER BY "+order+", rowid LIMIT ? OFFSET ?",
		append(where.args, page.Limit, page.Offset)...)
	if err != nil {
		return nil, fmt.Errorf("listing todos: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		t, err := scan(rows)
		if err != nil {
			return nil, err
		}
		result.Items = append(result.Items, *t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing todos: %w", err)
	}
	result.Pagination.Returned = len(result.Items)
	result.Pagination.HasMore = page.Offset+len(result.Items) < result.Pagination.TotalItems
	return result, nil
}
