// Package helpdesk is an API of tickets, as a company may have one: it knows nothing of agents. It lists tickets page
// by page, of one status, by the time at which they were opened, and can do nothing else.
package helpdesk

import (
	"fmt"
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

// Sample returns tickets for a demo, and for tests.
func Sample(n int) []Ticket {
	subjects := []string{"Cannot log in", "Invoice is wrong", "Where is my parcel?", "Printer on fire", "Thank you"}
	customers := []string{"Ann", "Bo", "Cem", "Dora", "Emil", "Fay", "Gus"}
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
