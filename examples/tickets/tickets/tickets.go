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
//aql:example {"fields":["subject","account.plan","_computed.unanswered"],"first":10} What the newest ask, and who pays
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

// GetAccountRequest names a customer.
type GetAccountRequest struct {
	_        struct{} `aql:"category=READ"`
	Customer string   `json:"customer" aql:"required"` // Whose account
}

// GetAccount reads what the help desk knows of a customer.
//
//aql:example {"customer":"Ann"} One of them
func (s *Service) GetAccount(ctx context.Context, req GetAccountRequest) (*helpdesk.Account, error) {
	found, err := s.API.Accounts(ctx, []string{req.Customer})
	switch {
	case err != nil:
		return nil, upstream(err)
	case len(found) == 0:
		return nil, aql.NotFound("account", req.Customer)
	}
	return found[0], nil
}

// Accounts loads the accounts of those who ask, for all tickets of a page at once.
//
//aql:relation helpdesk.Ticket.account by=Customer,to=get_account,desc='Of the customer'
func (s *Service) Accounts(ctx context.Context, customers []string) (map[string]*helpdesk.Account, error) {
	all, err := s.API.Accounts(ctx, customers)
	found := make(map[string]*helpdesk.Account)
	for _, account := range all {
		found[account.Customer] = account
	}
	return found, upstream(err)
}

// Unanswered reports for each ticket whether the customer waits for a first answer.
//
//aql:computed
func (s *Service) Unanswered(_ context.Context, tickets []*helpdesk.Ticket) ([]bool, error) {
	waits := make([]bool, len(tickets))
	for i, t := range tickets {
		waits[i] = t.Status == helpdesk.Open && t.Replies == 0
	}
	return waits, nil
}

// upstream says in the protocol's words what the API has refused.
func upstream(err error) error {
	var refused *helpdesk.StatusError
	if errors.As(err, &refused) {
		return aql.Upstream(refused.Status, refused.Header, refused.Body)
	}
	return err
}
