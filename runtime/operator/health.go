package operator

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
)

// healthTimeout bounds how long each look may take.
const healthTimeout = time.Second

// healthDocument is what operator health prints with -json.
type healthDocument struct {
	OK     bool            `json:"ok"`
	Checks []checkDocument `json:"checks"`
}

// checkDocument is one look, as -json prints it.
type checkDocument struct {
	Name         string `json:"name"` // store, inbox or audit
	OK           bool   `json:"ok"`
	Milliseconds int64  `json:"milliseconds"`
	Note         string `json:"note,omitempty"`
	Error        string `json:"error,omitempty"`
}

// health prints whether what the adapter depends on can be used. Its error says what cannot.
func (d *Desk) health(ctx context.Context, f Flags) error {
	var checks []checkDocument
	var faults []error
	look := func(name string, at func(context.Context) (string, error)) {
		ctx, cancel := context.WithTimeout(ctx, healthTimeout)
		defer cancel()
		began := time.Now()
		note, err := at(ctx)
		check := checkDocument{Name: name, OK: err == nil, Milliseconds: time.Since(began).Milliseconds(), Note: note}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			check.Note, check.Error = "", err.Error()
		}
		checks = append(checks, check)
	}
	if d.State != nil {
		look("store", func(ctx context.Context) (string, error) {
			_, err := d.State.Get(ctx, "health")
			return "", err
		})
	}
	look("inbox", func(ctx context.Context) (string, error) {
		items, unread, err := d.items(ctx)
		open, now := 0, d.now()
		for i := range items {
			if items[i].StateAt(now) == approve.Open {
				open++
			}
		}
		return fmt.Sprintf("%d open", open), errors.Join(err, unread)
	})
	if d.Audit != nil {
		look("audit", func(context.Context) (string, error) { return "", d.Audit.Err() })
	}
	if f.JSON {
		err := d.printDocument(healthDocument{OK: len(faults) == 0, Checks: checks})
		return errors.Join(err, errors.Join(faults...))
	}
	table := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	for _, check := range checks {
		if !check.OK {
			fmt.Fprintf(table, "%s\tfails\n", check.Name)
			continue
		}
		fmt.Fprintf(table, "%s\tok\t%d ms\t%s\n", check.Name, check.Milliseconds, check.Note)
	}
	return errors.Join(table.Flush(), errors.Join(faults...))
}
