package redis_test

import (
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

// The connection of those who listen is made again when it is lost, and they are told to look then.
func TestListeningOutlivesItsConnection(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	told := s.Listen(t.Context(), "a")
	awaitOne := func() {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			listening, err := c.PubSubNumSub(t.Context(), "{aql}notify").Result()
			if err != nil {
				t.Fatal(err)
			}
			if listening["{aql}notify"] == 1 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v listen, want 1", listening)
			}
		}
	}
	receive := func(what string) {
		t.Helper()
		select {
		case _, open := <-told:
			if !open {
				t.Fatal(what + ": listening has ended")
			}
		case <-time.After(time.Minute):
			t.Fatal(what + ": nobody is told")
		}
	}
	receive("the first connection")
	awaitOne()
	if killed, err := c.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Result(); err != nil || killed != 1 {
		t.Fatalf("%d connections are ended, %v", killed, err)
	}
	receive("the connection is lost")
	awaitOne()
	for len(told) > 0 {
		<-told
	}
	if err := s.Notify(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	receive("the second connection")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range told { // it is closed
	}
}
