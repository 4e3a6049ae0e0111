// Package sqlquery answers the queries of collections from SQLite, PostgreSQL and MySQL. It writes the statements that
// find what a request filters, sorts and pages by, and leaves to the runtime what the database cannot do exactly
// (MCP-AQL operations §4.4, collection querying §2, pagination §6).
//
// A Table says which columns hold the fields of a type. It is made once:
//
//	var todos = sqlquery.Must(sqlquery.New[Todo](sqlquery.SQLite, "todos", sqlquery.Columns{
//		"due_at": {Encode: sqlquery.UnixMicro},
//		"tags":   {List: sqlquery.JSON},
//	}))
//
// A handler takes what the database can do of the request's query, and answers with what it finds:
//
//	return sqlquery.Query(ctx, s.db, todos.Take(&req.Query), scanTodo, sqlquery.Where("tenant = ?", tenant))
//
// A request has no part in the text of a statement: identifiers and expressions are the author's, values are
// placeholders, and the rest is this package's.
//
// If the database does all that a request asks, a page of Query costs one statement, or two if the field that it is
// ordered by may be missing. Wherever its cursor is, statements find the place in an index (see Table.Indexes) and
// count no rows in front of it; rows in front of a page by number or offset are passed over. Rows that conditions leave
// out are passed over one by one, unless an index begins with their columns. If conditions are left to the runtime,
// statements follow one another until the page is full; if the order is, one statement reads all rows that match.
// Totals and summaries are statements of their own.
package sqlquery
