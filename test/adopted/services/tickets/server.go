// Package tickets is a service that speaks gRPC, with messages that have oneofs and well-known types. Nothing in it is
// for aql-tag.
package tickets

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

//go:generate protoc --go_out=paths=source_relative:. --go-grpc_out=paths=source_relative:. tickets.proto

// Server keeps tickets in memory.
type Server struct {
	UnimplementedTicketsServer
	mu   sync.Mutex
	kept []*Ticket
}

// CreateTicket records a ticket.
func (s *Server) CreateTicket(_ context.Context, ticket *Ticket) (*Ticket, error) {
	if ticket.GetTitle() == "" {
		return nil, status.Error(codes.InvalidArgument, "a ticket has a title")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := proto.CloneOf(ticket)
	kept.Number = 1<<53 + int64(len(s.kept)) + 1
	s.kept = append(s.kept, kept)
	return proto.CloneOf(kept), nil
}

// GetTicket reads a ticket.
func (s *Server) GetTicket(_ context.Context, request *GetTicketRequest) (*Ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ticket := range s.kept {
		if ticket.GetNumber() == request.GetNumber() {
			return proto.CloneOf(ticket), nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "no ticket %d", request.GetNumber())
}

// ListTickets lists the newest tickets.
func (s *Server) ListTickets(_ context.Context, request *ListTicketsRequest) (*ListTicketsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 1
	switch limit := request.GetLimit().(type) {
	case *ListTicketsRequest_All:
		most = len(s.kept)
	case *ListTicketsRequest_AtMost:
		most = max(0, int(limit.AtMost))
	}
	response := &ListTicketsResponse{}
	for _, ticket := range slices.Backward(s.kept) {
		opened := ticket.GetOpenedOn().AsTime()
		if len(response.GetTickets()) < most && !opened.Before(request.GetSince().AsTime()) {
			response.Tickets = append(response.Tickets, proto.CloneOf(ticket))
		}
	}
	return response, nil
}

// CloseTickets closes all tickets.
func (s *Server) CloseTickets(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = nil
	return &emptypb.Empty{}, nil
}

// PreviewTicket returns the ticket that it got.
func (s *Server) PreviewTicket(_ context.Context, ticket *Ticket) (*Ticket, error) {
	return ticket, nil
}
