// Package helpdesk is an API of tickets, as a company may have one: it knows nothing of agents. It lists tickets page
// by page, of one status, by the time at which they were opened, and the accounts of several customers at once. It can
// do nothing else.
package helpdesk

import (
	"fmt"
	"slices"
	"time"
)

// Status is how far a ticket is.
type Status string

// The statuses.
const (
	Open    Status = "open"
	Waiting Status = "waiting"
	Solved  Status = "solved"
)

// Ticket is a request for help.
type Ticket struct {
	ID       string    `json:"id"`        // Such as T0042
	Subject  string    `json:"subject"`   // What it is about
	Customer string    `json:"customer"`  // Who asks
	Status   Status    `json:"status"`    // How far it is
	Replies  int       `json:"replies"`   // How many answers the customer got
	OpenedAt time.Time `json:"opened_at"` // When the customer asked
}

// Plan is what a customer pays for.
type Plan string

// The plans.
const (
	Free Plan = "free"
	Team Plan = "team"
)

// Account is what the help desk knows of a customer.
type Account struct {
	Customer string    `json:"customer"` // Whose it is
	Plan     Plan      `json:"plan"`     // What the customer pays for
	Since    time.Time `json:"since"`    // When the customer came
}

// customers are those of the sample, all but the last of whom have an account.
var customers = []string{"Ann", "Bo", "Cem", "Dora", "Emil", "Fay", "Gus"}

// accounts returns the accounts of customers, each once.
func accounts(of []string) []Account {
	found := []Account{}
	for i, customer := range customers[:len(customers)-1] {
		if slices.Contains(of, customer) {
			since := time.Date(2020+i, 1, 1, 0, 0, 0, 0, time.UTC)
			found = append(found, Account{Customer: customer, Plan: []Plan{Free, Team}[i%2], Since: since})
		}
	}
	return found
}

// Sample returns tickets for a demo, and for tests.
func Sample(n int) []Ticket {
	subjects := []string{"Cannot log in", "Invoice is wrong", "Where is my parcel?", "Printer on fire", "Thank you"}
	statuses := []Status{Open, Waiting, Solved, Solved}
	day := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	all := make([]Ticket, n)
	for i := range all {
		all[i] = Ticket{
			ID: fmt.Sprintf("T%04d", i*7919%n), Subject: subjects[i%len(subjects)], Customer: customers[i%len(customers)],
			Status: statuses[i%len(statuses)], Replies: i % 9, OpenedAt: day.Add(time.Duration(i/3) * time.Hour),
		}
	}
	return all
}
