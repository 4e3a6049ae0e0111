// Package library puts a database in front of agents: the queries that sqlc made Go methods of, adopted by their names.
package library

import _ "github.com/aqltag/aqltag/test/adopted/services/library"

//aql:adopt library.Querier.CreateAuthor category=CREATE
//aql:adopt library.Querier.GetAuthor category=READ
//aql:adopt library.Querier.ListAuthors category=READ
//aql:param limit min=1,max=100,default=20
//aql:adopt library.Querier.UpdateAuthor category=UPDATE,ids=id
//aql:update get=GetAuthor
//aql:adopt library.Querier.DeleteAuthor category=DELETE
//aql:adopt library.Querier.CreateBook category=CREATE
//aql:adopt library.Querier.ListBooks category=READ,query
