// Package orders is a service that speaks gRPC and Connect. Nothing in it is for aql-tag.
package orders

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Server keeps orders in memory.
type Server struct {
	UnimplementedOrdersServer
	mu   sync.Mutex
	kept []*Order
}

// CreateOrder records an order.
func (s *Server) CreateOrder(_ context.Context, request *CreateOrderRequest) (*Order, error) {
	if len(request.GetLines()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "an order has one line or more")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	order := &Order{
		OrderId: fmt.Sprintf("o%d", len(s.kept)+1), Customer: request.GetCustomer(), Lines: request.GetLines(),
		State: State_STATE_OPEN, InvoiceTo: request.GetInvoiceTo(),
	}
	s.kept = append(s.kept, order)
	return proto.CloneOf(order), nil
}

// GetOrder reads an order.
func (s *Server) GetOrder(_ context.Context, request *GetOrderRequest) (*Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, err := s.find(request.GetOrderId())
	return proto.CloneOf(order), err
}

// CancelOrder ends an order that has not been sent.
func (s *Server) CancelOrder(_ context.Context, request *CancelOrderRequest) (*Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, err := s.find(request.GetOrderId())
	if err != nil {
		return nil, err
	}
	if order.GetState() == State_STATE_CANCELLED {
		return nil, status.Error(codes.FailedPrecondition, "the order is cancelled")
	}
	order.State = State_STATE_CANCELLED
	return proto.CloneOf(order), nil
}

func (s *Server) find(id string) (*Order, error) {
	for _, order := range s.kept {
		if order.GetOrderId() == id {
			return order, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "no order %s", id)
}
