package audit_test

import (
	"context"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// holding is a sink that stores nothing until it is let.
type holding struct{ let chan struct{} }

func (h holding) Write(context.Context, []audit.Record) error {
	<-h.let
	return nil
}

func (holding) Close() error { return nil }

// Records wait until all sinks have stored them.
func TestWaiting(t *testing.T) {
	sink := holding{make(chan struct{})}
	l := audit.New(audit.Options{Sinks: []audit.Sink{sink, new(sinkOfNothing)}})
	if n := l.Waiting(); n != 0 {
		t.Errorf("%d records wait of none", n)
	}
	if err := l.Write(t.Context(), numbered(3)...); err != nil {
		t.Fatal(err)
	}
	if n := l.Waiting(); n != 3 {
		t.Errorf("%d records wait, want 3", n)
	}
	close(sink.let)
	closeLog(t, l)
	if n := l.Waiting(); n != 0 {
		t.Errorf("%d records wait that are stored", n)
	}
	if n := (*audit.Log)(nil).Waiting(); n != 0 {
		t.Errorf("%d records wait where there is no log", n)
	}
}

// sinkOfNothing stores at once.
type sinkOfNothing struct{}

func (sinkOfNothing) Write(context.Context, []audit.Record) error { return nil }
func (sinkOfNothing) Close() error                                { return nil }
