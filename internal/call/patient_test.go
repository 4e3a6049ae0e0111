package call_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/internal/call"
)

// slow is a server that takes a time before and after a question to the person.
type slow struct {
	caller        *call.Caller
	before, after time.Duration
}

func (s *slow) Tools(context.Context) ([]conform.Tool, error) {
	readOnly := true
	return []conform.Tool{{Name: "wait", ReadOnly: &readOnly}}, nil
}

func (s *slow) Call(ctx context.Context, _ string, _ json.RawMessage) (conform.Reply, error) {
	for _, wait := range []time.Duration{s.before, s.after} {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return conform.Reply{}, context.Cause(ctx)
		}
		if wait == s.before {
			if _, err := s.caller.Approve(ctx, "Sure?"); err != nil {
				return conform.Reply{}, err
			}
		}
	}
	return conform.Reply{Text: "done"}, nil
}

// look returns the operations of a server.
func look(t *testing.T, server conform.Server) *conform.Surface {
	t.Helper()
	surface, err := conform.Look(t.Context(), server, conform.Options{CallTimeout: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return surface
}

// The server has a time to answer; the person has all the time.
func TestPatient(t *testing.T) {
	for name, tt := range map[string]struct {
		before, person, after time.Duration
		fails                 bool
	}{
		"a person who takes long":    {before: time.Second, person: time.Hour, after: 2 * time.Second},
		"a server that takes long":   {before: time.Minute, fails: true},
		"a server that takes longer": {before: time.Second, person: time.Hour, after: time.Minute, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &slow{before: tt.before, after: tt.after}
				patient := &call.Patient{Server: server, Timeout: 10 * time.Second}
				surface := look(t, patient)
				server.caller = &call.Caller{Surface: surface, Patient: patient, Say: t.Output(),
					Ask: func(context.Context, string) (string, error) {
						time.Sleep(tt.person)
						return "y", nil
					}}
				_, err := server.caller.Call(t.Context(), surface.Operations[0], json.RawMessage("{}"))
				if (err != nil) != tt.fails {
					t.Error(err)
				}
				if err != nil && err.Error() != "conform: no answer within 10s; whether wait was carried out is not known" {
					t.Error(err)
				}
			})
		})
	}
}

// leaving is a server that ends while the person is asked.
type leaving struct{ slow }

func (s *leaving) Call(context.Context, string, json.RawMessage) (conform.Reply, error) {
	go s.caller.Approve(context.Background(), "Sure?")
	time.Sleep(time.Second)
	return conform.Reply{}, errors.New("the server ended")
}

// A question ends with the call that it belongs to.
func TestQuestionOfAServerThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &leaving{}
		surface := look(t, server)
		ask := func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		server.caller = &call.Caller{Surface: surface, Say: t.Output(), Ask: ask}
		if _, err := server.caller.Call(t.Context(), surface.Operations[0], json.RawMessage("{}")); err == nil {
			t.Error("no error")
		}
	})
}
