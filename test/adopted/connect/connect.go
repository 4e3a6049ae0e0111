// Package connect puts a service that speaks Connect in front of agents: the methods of its generated interface,
// adopted by their names.
package connect

import _ "github.com/aqltag/aqltag/test/adopted/services/orders/ordersconnect"

//aql:adopt ordersconnect.OrdersHandler.CreateOrder category=CREATE
//aql:adopt ordersconnect.OrdersHandler.GetOrder category=READ
//aql:adopt ordersconnect.OrdersHandler.CancelOrder category=EXECUTE
