package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/aqltag/aqltag/runtime/console/internal/calls"
	"github.com/aqltag/aqltag/runtime/execution"
)

// sectionEvents are what pages of executions and of health are told of.
type sectionEvents struct {
	places
	executions map[execution.State]*latest[*executionsPage] // the first page of those in a state; empty: in any
	health     latest[*healthPage]
}

func newSectionEvents() *sectionEvents {
	all := &sectionEvents{executions: map[execution.State]*latest[*executionsPage]{"": {}}}
	for _, state := range states {
		all.executions[state] = new(latest[*executionsPage])
	}
	return all
}

// showExecutionsEvents is GET /executions/events: server-sent events (HTML §9.2) for the first page of executions.
func (c *console) showExecutionsEvents(w http.ResponseWriter, r *http.Request) {
	q := c.executionQuery(r)
	q.After = ""
	c.follow(w, r, c.sections.join, func(s *stream) error {
		return s.often(func() error {
			body, err := c.sections.executions[q.State].shared(r.Context(), func(ctx context.Context) (*executionsPage, error) {
				return c.executionsPage(ctx, q)
			})
			if err == nil {
				return s.tellRows("executions", body.Seen, body)
			}
			return nil // the page stays as it is
		})
	})
}

// showExecutionEvents is GET /executions/{execution}/events: server-sent events (HTML §9.2) for the page of one.
func (c *console) showExecutionEvents(w http.ResponseWriter, r *http.Request) {
	var last latest[*executionPage]
	c.follow(w, r, c.sections.join, func(s *stream) error {
		return s.often(func() error {
			body, err := last.shared(r.Context(), func(ctx context.Context) (*executionPage, error) {
				of, err := c.o.Executions.Execution(ctx, r.PathValue("execution"))
				if err != nil {
					return nil, err
				}
				body := c.executionPage(&of)
				body.Moved = executionRevision(&of) != r.FormValue(revisionField)
				return body, nil
			})
			if err == nil {
				return s.tellRows("execution", body.Seen, body)
			}
			return nil // the page stays as it is
		})
	})
}

// showHealthEvents is GET /health/events: server-sent events (HTML §9.2) for the page of health.
func (c *console) showHealthEvents(w http.ResponseWriter, r *http.Request) {
	c.follow(w, r, c.sections.join, func(s *stream) error {
		return s.often(func() error {
			body, err := c.sections.health.shared(r.Context(), func(ctx context.Context) (*healthPage, error) {
				return c.healthPage(ctx), nil
			})
			if err != nil {
				return err
			}
			return s.tellRows("health", body.Seen, body)
		})
	})
}

// often has a page told of what there is once a second, until it is closed, its session ends, or the serving does.
func (s *stream) often(tell func() error) error {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	if err := s.beat(); err != nil {
		return err
	}
	for {
		if err := tell(); err != nil {
			return err
		}
		pause, stop := context.WithTimeout(s.r.Context(), lookEvery)
		on, err := s.wait(beat, pause.Done())
		if stop(); !on {
			return err
		}
	}
}

// rowed is the body of a page whose rows are told anew.
type rowed interface {
	title() string
	Count() string
}

// tellRows tells a page of its rows, unless it shows them already.
func (s *stream) tellRows(name, seen string, body rowed) error {
	if seen == s.seen {
		return nil
	}
	var text bytes.Buffer
	err := s.pages[name].ExecuteTemplate(&text, "rows", page{Name: s.o.Name, Path: s.o.Path, Body: body})
	if err != nil {
		return fmt.Errorf("writing what has changed: %w", err)
	}
	return s.sendEvent(seen, event{Title: body.title(), Count: body.Count(), Rows: text.String()})
}

// seenExecutions returns a digest of what a page of executions shows, except for times. Where nothing happens it
// changes with the minute.
func seenExecutions(p *executionsPage, now time.Time) string {
	sum := sha256.New()
	fmt.Fprintln(sum, calls.MinuteOf(now), p.Earlier)
	for _, row := range p.Rows {
		row.Created = moment{}
		fmt.Fprintf(sum, "%q\n", row)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// seenExecution returns a digest of what the page of an execution shows, except for how long ago it was asked for.
// Where nothing happens it changes with the minute.
func seenExecution(p *executionPage, now time.Time) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %q %q %q\n", calls.MinuteOf(now), p.State, p.StateSays, p.Progress)
	fmt.Fprintf(sum, "%q %q %q\n", p.Failure, p.Item, p.Facts)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// seenHealth returns a digest of what the page of health shows, except for times. Where nothing happens it changes with
// the minute.
func seenHealth(p *healthPage, now time.Time, waiting ...int) string {
	sum := sha256.New()
	fmt.Fprintln(sum, calls.MinuteOf(now), p.Ready, p.Missing, waiting)
	for _, of := range p.Parts {
		fmt.Fprintf(sum, "%q %q\n", of.State.Word, of.Says)
	}
	for _, of := range p.Replicas {
		fmt.Fprintf(sum, "%q %d\n", of.Name, of.Calls)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
