package helpdesk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// Client calls the API.
type Client struct {
	URL string // where it is, without a slash at the end
}

// Query says which tickets to list, and in which order.
type Query struct {
	Status      Status // empty: of any
	NewestFirst bool
}

// StatusError is an answer of the API with a status other than 200.
type StatusError struct {
	Status int
	Header http.Header
	Body   []byte
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the help desk answered with status %d", e.Status)
}

// Tickets yields tickets. It asks for a page of the API when the ones before it are used up.
func (c *Client) Tickets(ctx context.Context, q Query) iter.Seq2[Ticket, error] {
	values := url.Values{}
	if q.Status != "" {
		values.Set("status", string(q.Status))
	}
	if q.NewestFirst {
		values.Set("order", "newest")
	}
	return func(yield func(Ticket, error) bool) {
		for page := 1; ; page++ {
			values.Set("page", strconv.Itoa(page))
			var found listing
			if err := c.get(ctx, "/tickets?"+values.Encode(), &found); err != nil {
				yield(Ticket{}, fmt.Errorf("listing tickets: %w", err))
				return
			}
			for _, t := range found.Tickets {
				if !yield(t, nil) {
					return
				}
			}
			if !found.More {
				return
			}
		}
	}
}

// Ticket reads one ticket.
func (c *Client) Ticket(ctx context.Context, id string) (*Ticket, error) {
	var t Ticket
	if err := c.get(ctx, "/tickets/"+url.PathEscape(id), &t); err != nil {
		return nil, fmt.Errorf("reading ticket %s: %w", id, err)
	}
	return &t, nil
}

// Accounts reads the accounts of customers in one request, and leaves out who has none.
func (c *Client) Accounts(ctx context.Context, customers []string) ([]*Account, error) {
	var found []*Account
	if err := c.get(ctx, "/accounts?"+url.Values{"customer": customers}.Encode(), &found); err != nil {
		return nil, fmt.Errorf("reading accounts: %w", err)
	}
	return found, nil
}

// get reads what the API answers. No answer is longer than 1 MiB.
func (c *Client) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return &StatusError{response.StatusCode, response.Header, body}
	}
	return json.Unmarshal(body, into)
}
