package todo

import (
	"context"
	"database/sql"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// ListTodosRequest selects and orders todos, as far as the tags of Todo allow.
type ListTodosRequest struct {
	_ struct{} `aql:"category=READ,sort=-created_at"`
	aql.Query[Todo]
	aql.Fields
}

// ListTodos lists todos.
//
//aql:example {} The newest todos
//aql:example {"filter":{"status":"open","tags":"work"},"sort":{"field":"due_at"}} What is due next
//aql:example {"fields":["todo_id","due_at"]} When everything is due
//aql:example {"filter":{"status":"open"},"aggregate":{"a":{"group_by":"priority","count":true}}} What is left to do
func (s *Service) ListTodos(ctx context.Context, req ListTodosRequest) (*aql.Page[Todo], error) {
	return list(ctx, s.db, &req.Query)
}

// table says which columns hold what agents list todos by. An enum is in the order of its constants, so that low is in
// front of high.
var table = sqlquery.Must(sqlquery.New[Todo](sqlquery.SQLite, "todos", sqlquery.Columns{
	"due_at":         {Encode: sqlquery.UnixMicro},
	"created_at":     {Encode: sqlquery.UnixMicro},
	"updated_at":     {Encode: sqlquery.UnixMicro},
	"tags":           {List: sqlquery.JSON},
	"metadata.color": {Expr: "coalesce(metadata ->> '$.color', '')"},

	"metadata.estimate_minutes": {Expr: "metadata ->> '$.estimate_minutes'"},
}))

// list answers a query with the todos that the database finds.
func list(ctx context.Context, db sqlquery.Querier, query *aql.Query[Todo]) (*aql.Page[Todo], error) {
	scan := func(rows *sql.Rows) (Todo, error) {
		todo, err := scanTodo(rows)
		if err != nil {
			return Todo{}, err
		}
		return *todo, nil
	}
	return sqlquery.Query(ctx, db, table.Take(query), scan, sqlquery.Reading(columns), sqlquery.Counted())
}
