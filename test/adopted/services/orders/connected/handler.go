// Package connected serves orders over Connect.
package connected

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/grpc/status"

	"github.com/aqltag/aqltag/test/adopted/services/orders"
)

// Handler is the handler of the service.
type Handler struct{ Server *orders.Server }

// CreateOrder records an order.
func (h *Handler) CreateOrder(
	ctx context.Context, request *connect.Request[orders.CreateOrderRequest],
) (*connect.Response[orders.Order], error) {
	return answered(h.Server.CreateOrder(ctx, request.Msg))
}

// GetOrder reads an order.
func (h *Handler) GetOrder(
	ctx context.Context, request *connect.Request[orders.GetOrderRequest],
) (*connect.Response[orders.Order], error) {
	return answered(h.Server.GetOrder(ctx, request.Msg))
}

// CancelOrder ends an order that has not been sent.
func (h *Handler) CancelOrder(
	ctx context.Context, request *connect.Request[orders.CancelOrderRequest],
) (*connect.Response[orders.Order], error) {
	return answered(h.Server.CancelOrder(ctx, request.Msg))
}

func answered(order *orders.Order, err error) (*connect.Response[orders.Order], error) {
	if err != nil {
		return nil, connect.NewError(connect.Code(status.Code(err)), errors.New(status.Convert(err).Message()))
	}
	return connect.NewResponse(order), nil
}
