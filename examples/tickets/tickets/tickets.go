// Package tickets gives agents the tickets of a help desk.
package tickets

import (
	"context"
	"errors"

	"github.com/aqltag/aqltag/examples/tickets/helpdesk"
	aql "github.com/aqltag/aqltag/runtime"
)

//go:generate go tool aql-tag

// Service answers from the API of a help desk.
type Service struct {
	API *helpdesk.Client
}

// ListTicketsRequest selects tickets.
type ListTicketsRequest struct {
	_ struct{} `aql:"category=READ,sort=-opened_at"`
	aql.Query[helpdesk.Ticket]
	aql.Fields
}

// ListTickets lists tickets, the newest first.
//
//aql:example {"filter":{"status":"open","replies":0},"first":10} Who waits for a first answer
func (s *Service) ListTickets(ctx context.Context, req ListTicketsRequest) (*aql.Page[helpdesk.Ticket], error) {
	var q helpdesk.Query
	if asked, ok := req.Take("status", aql.OpEq); ok {
		status, _ := asked[0].Value.(string)
		q.Status = helpdesk.Status(status)
	}
	if order, ok := req.TakeSort("opened_at"); ok {
		q.NewestFirst = order[0].Descending
	}
	page, err := req.Stream(ctx, s.API.Tickets(ctx, q))
	return page, upstream(err)
}

// GetTicketRequest names a ticket.
type GetTicketRequest struct {
	_  struct{} `aql:"category=READ"`
	ID string   `json:"id" aql:"required"` // Of the ticket
	aql.Fields
}

// GetTicket reads a ticket.
//
//aql:example {"id":"T0042"} One of them
func (s *Service) GetTicket(ctx context.Context, req GetTicketRequest) (*helpdesk.Ticket, error) {
	ticket, err := s.API.Ticket(ctx, req.ID)
	return ticket, upstream(err)
}

// upstream says in the protocol's words what the API has refused.
func upstream(err error) error {
	var refused *helpdesk.StatusError
	if errors.As(err, &refused) {
		return aql.Upstream(refused.Status, refused.Header, refused.Body)
	}
	return err
}
