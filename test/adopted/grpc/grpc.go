// Package grpc puts a service that speaks gRPC in front of agents: the methods of its generated interface, adopted by
// their names.
package grpc

import _ "github.com/aqltag/aqltag/test/adopted/services/orders"

//aql:adopt orders.OrdersServer.CreateOrder category=CREATE
//aql:adopt orders.OrdersServer.GetOrder category=READ
//aql:adopt orders.OrdersServer.CancelOrder category=EXECUTE
