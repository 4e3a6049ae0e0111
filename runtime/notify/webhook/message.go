package webhook

import (
	"encoding/json"
	"time"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostParams bounds the parameters of an item in a message, in bytes. Longer ones are left out.
const mostParams = 8 << 10

// message is the body of a webhook.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
	// Text is what some receivers of webhooks show as they get it.
	Text string `json:"text"`
}

// waiting is the type of messages.
const waiting = "items.waiting"

type data struct {
	Adapter string   `json:"adapter"`
	Title   string   `json:"title"`
	Urgent  bool     `json:"urgent"`
	Waiting int      `json:"waiting"`
	Items   []item   `json:"items"`
	More    int      `json:"more"`
	Lifted  []lifted `json:"lifted,omitempty"`
	Last    bool     `json:"last,omitempty"`
	Link    string   `json:"link,omitempty"`
}

type item struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Operation string    `json:"operation,omitempty"`
	Danger    string    `json:"danger_level,omitempty"`
	Caller    caller    `json:"caller"`
	Agent     string    `json:"agent,omitempty"` // which the agent has chosen, like Params
	Opened    time.Time `json:"opened"`
	Expires   time.Time `json:"expires,omitzero"`
	Soon      bool      `json:"expires_soon,omitempty"`
	Link      string    `json:"link,omitempty"`
	Details   *details  `json:"details,omitempty"`
}

type lifted struct {
	ID     string   `json:"id"`
	Agent  string   `json:"agent"`
	Caller caller   `json:"caller"`
	By     []caller `json:"by,omitempty"`
}

type caller struct {
	Subject string `json:"subject"`
	Issuer  string `json:"issuer,omitempty"`
}

type details struct {
	Message string          `json:"message,omitempty"`
	Reasons []string        `json:"reasons,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

func callerOf(subject, issuer string) caller {
	return caller{words.Printable(subject), words.Printable(issuer)}
}

// newMessage returns the message of a notice. What others have chosen has no character that misleads who reads it, but
// for the values of parameters, which are as they came.
func newMessage(n *notify.Notice) message {
	m := message{
		Type: waiting, Timestamp: n.At, Text: n.Title() + "\n" + n.Text(),
		Data: data{
			Adapter: n.Adapter, Title: n.Title(), Urgent: n.Urgent(), Waiting: n.Waiting, Items: []item{}, More: n.More,
			Last: n.Last, Link: n.Link,
		},
	}
	if n.Link != "" {
		m.Text += "\n" + n.Link
	}
	for i := range n.Items {
		from := &n.Items[i]
		to := item{
			ID: from.ID, Kind: string(from.Kind), Operation: words.Printable(from.Operation),
			Danger: words.Printable(string(from.Danger)), Caller: callerOf(from.Caller.Subject, from.Caller.Issuer),
			Agent:  words.Printable(from.Agent),
			Opened: from.Opened, Expires: from.Expires, Soon: from.Soon, Link: from.Link,
		}
		if d := from.Details; d != nil {
			to.Details = &details{Message: words.Visible(d.Message)}
			for _, reason := range d.Reasons {
				to.Details.Reasons = append(to.Details.Reasons, words.Visible(reason))
			}
			if len(d.Params) <= mostParams && json.Valid([]byte(d.Params)) {
				to.Details.Params = json.RawMessage(words.Visible(d.Params))
			}
		}
		m.Data.Items = append(m.Data.Items, to)
	}
	for _, from := range n.Lifted {
		to := lifted{
			ID: from.ID, Agent: words.Printable(from.Agent), Caller: callerOf(from.Caller.Subject, from.Caller.Issuer),
		}
		for _, person := range from.By {
			to.By = append(to.By, callerOf(person.Subject, person.Issuer))
		}
		m.Data.Lifted = append(m.Data.Lifted, to)
	}
	return m
}
