package grpc_test

import (
	"testing"

	"github.com/aqltag/aqltag/test/adopted/grpc"
	"github.com/aqltag/aqltag/test/adopted/services/orders"
	"github.com/aqltag/aqltag/test/adopted/services/orderstest"
)

// A service with the generated interface of gRPC is an adapter by one line an operation (B4), and its
// statuses are codes (B3).
func TestAServiceIsAnAdapterAsItStands(t *testing.T) {
	orderstest.Test(t, grpc.NewRegistry(new(orders.Server)))
}
