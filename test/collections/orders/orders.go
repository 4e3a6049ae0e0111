// Package orders has customers, orders and parcels that are related by keys other than plain ids, for tests of
// relations.
package orders

import (
	"context"
	"errors"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
)

// Customer buys.
type Customer struct {
	CustomerID string `json:"customer_id" aql:"id"`
	Email      string `json:"email"`
}

// Order is what a customer has bought. It knows its customer by the address.
type Order struct {
	OrderID string `json:"order_id" aql:"id"`
	Email   string `json:"email"`
}

// ann is the only customer.
func ann() *Customer { return &Customer{CustomerID: "c1", Email: "ann@example.com"} }

// GetOrder returns an order, also where its id has small letters.
//
//aql:op category=READ
func GetOrder(_ context.Context, orderID string) (*Order, error) {
	return &Order{OrderID: strings.ToUpper(orderID), Email: ann().Email}, nil
}

// GetCustomer returns a customer.
//
//aql:op category=READ
func GetCustomer(_ context.Context, customerID string) (*Customer, error) {
	if c := ann(); c.CustomerID == customerID {
		return c, nil
	}
	return nil, aql.NotFound("customer", customerID)
}

// FindCustomer returns the customer with an address.
//
//aql:op category=READ
func FindCustomer(_ context.Context, email string) (*Customer, error) {
	if c := ann(); c.Email == email {
		return c, nil
	}
	return nil, aql.NotFound("customer", email)
}

// CustomersByEmail loads customers by their addresses.
//
//aql:relation Order.customer by=Email,to=find_customer,type=references,inverse=Customer.orders
func CustomersByEmail(_ context.Context, emails []string) (map[string]*Customer, error) {
	return map[string]*Customer{ann().Email: ann()}, nil
}

// FindOrders returns the orders of an address.
//
//aql:op category=READ
func FindOrders(_ context.Context, email string) ([]*Order, error) {
	if email != ann().Email {
		return nil, nil
	}
	return []*Order{{OrderID: "O1", Email: email}}, nil
}

// OrdersByEmail loads orders by the addresses of their customers.
//
//aql:relation Customer.orders by=Email,to=find_orders,many,type=composes
func OrdersByEmail(ctx context.Context, emails []string) (map[string][]*Order, error) {
	found := make(map[string][]*Order)
	for _, email := range emails {
		found[email], _ = FindOrders(ctx, email)
	}
	return found, nil
}

// Code identifies a parcel. Its methods have pointer receivers.
type Code struct{ Number byte }

// MarshalText returns the text of the code: p and a digit.
func (c *Code) MarshalText() ([]byte, error) {
	if c.Number > 9 {
		return nil, errors.New("a code has one digit")
	}
	return []byte{'p', '0' + c.Number}, nil
}

// UnmarshalText reads it.
func (c *Code) UnmarshalText(text []byte) error {
	if len(text) != 2 || text[0] != 'p' || text[1] < '0' || text[1] > '9' {
		return errors.New("a code is p and a digit")
	}
	c.Number = text[1] - '0'
	return nil
}

// Parcel is followed by another one.
type Parcel struct {
	ParcelID Code   `json:"parcel_id" aql:"id"`
	NextID   string `json:"next_id"`
}

// GetParcel returns a parcel.
//
//aql:op category=READ
func GetParcel(ctx context.Context, parcelID string) (*Parcel, error) {
	found, _ := ParcelsByID(ctx, []string{parcelID})
	return found[parcelID], nil
}

// ParcelsByID loads parcels by their ids. That behind p3 has a number which is no code.
//
//aql:relation Parcel.next by=NextID,to=get_parcel,type=extends
func ParcelsByID(_ context.Context, ids []string) (map[string]*Parcel, error) {
	return map[string]*Parcel{
		"p1": {ParcelID: Code{1}, NextID: "p2"},
		"p2": {ParcelID: Code{2}, NextID: "p1"},
		"p3": {ParcelID: Code{3}, NextID: "p4"},
		"p4": {ParcelID: Code{40}},
	}, nil
}
