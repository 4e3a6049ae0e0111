// Package messages puts a service that speaks gRPC in front of agents, whose messages have oneofs and well-known types.
package messages

import _ "github.com/aqltag/aqltag/test/adopted/services/tickets"

//aql:adopt tickets.TicketsServer.CreateTicket category=CREATE
//aql:adopt tickets.TicketsServer.GetTicket category=READ
//aql:adopt tickets.TicketsServer.ListTickets category=READ
//aql:adopt tickets.TicketsServer.CloseTickets category=EXECUTE,danger=reversible
//aql:adopt tickets.TicketsServer.PreviewTicket category=READ
