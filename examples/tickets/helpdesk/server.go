package helpdesk

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// PageSize is how many tickets the API lists at once.
const PageSize = 100

// listing is an answer of GET /tickets.
type listing struct {
	Tickets []Ticket `json:"tickets"`
	More    bool     `json:"more"` // there is another page
}

// NewServer returns the API of some tickets:
//
//	GET /tickets       those of the parameter status, newest first with order=newest, from the page with a number on
//	GET /tickets/{id}  one of them
//	GET /accounts      those of each parameter customer
func NewServer(tickets []Ticket) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tickets", func(w http.ResponseWriter, r *http.Request) { list(w, r, tickets) })
	mux.HandleFunc("GET /tickets/{id}", func(w http.ResponseWriter, r *http.Request) {
		at := slices.IndexFunc(tickets, func(t Ticket) bool { return t.ID == r.PathValue("id") })
		if at < 0 {
			http.Error(w, "there is no such ticket", http.StatusNotFound)
			return
		}
		write(w, tickets[at])
	})
	mux.HandleFunc("GET /accounts", func(w http.ResponseWriter, r *http.Request) {
		write(w, accounts(r.URL.Query()["customer"]))
	})
	return mux
}

func list(w http.ResponseWriter, r *http.Request, tickets []Ticket) {
	query := r.URL.Query()
	page, err := strconv.Atoi(cmp.Or(query.Get("page"), "1"))
	if err != nil || page < 1 {
		http.Error(w, "page is a number from 1 on", http.StatusBadRequest)
		return
	}
	var found []Ticket
	for _, t := range tickets {
		if status := query.Get("status"); status == "" || status == string(t.Status) {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b Ticket) int {
		if query.Get("order") == "newest" {
			a, b = b, a
		}
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), cmp.Compare(a.ID, b.ID))
	})
	from := min((page-1)*PageSize, len(found))
	to := min(from+PageSize, len(found))
	write(w, listing{Tickets: found[from:to], More: to < len(found)})
}

func write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who has gone needs no answer
}
