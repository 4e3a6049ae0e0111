package connect_test

import (
	"testing"

	"github.com/aqltag/aqltag/test/adopted/connect"
	"github.com/aqltag/aqltag/test/adopted/services/orders"
	"github.com/aqltag/aqltag/test/adopted/services/orders/connected"
	"github.com/aqltag/aqltag/test/adopted/services/orderstest"
)

// A service with the generated interface of Connect is an adapter by one line an operation (B4), and its
// statuses are codes (B3).
func TestAServiceIsAnAdapterAsItStands(t *testing.T) {
	orderstest.Test(t, connect.NewRegistry(&connected.Handler{Server: new(orders.Server)}))
}
