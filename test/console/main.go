// Command console serves the console with an inbox in memory, for trying it in a browser. With -empty nothing waits.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

func main() {
	address := flag.String("addr", "127.0.0.1:9090", "the `address` to listen on, of this machine")
	empty := flag.Bool("empty", false, "nothing waits")
	flag.Parse()
	if err := run(*address, *empty); err != nil {
		log.Fatal(err)
	}
}

// run serves the console until it fails.
func run(address string, empty bool) error {
	ctx, state := context.Background(), new(store.Memory)
	const name, typed = "eve", "correct horse battery"
	if err := (passphrase.Book{Store: state}).Choose(ctx, identity.User(name), 0, typed); err != nil {
		return err
	}
	if !empty {
		if err := fill(ctx, state); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	at := listener.Addr().String()
	handler, err := console.New(console.Options{
		Name: "notes", Store: state, Hosts: []string{at},
		Groups: func(context.Context, identity.Caller) ([]string, error) { return []string{"ops"}, nil },
	})
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/ with the name %s and the passphrase %s\n", at, name, typed)
	return (&http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}).Serve(listener)
}

// fill opens an item of each sort.
func fill(ctx context.Context, state store.Store) error {
	now, ann := time.Now(), identity.Caller{Subject: "ann", Issuer: "stdio"}
	inbox := approve.New(state)
	for i, q := range []approve.Question{
		{
			Operation: "delete_note", Danger: gen.Destructive, Message: "Delete note 'n1'? This cannot be undone.",
			Reasons: []string{"Removes the note and its history"}, Params: `{"note_id":"n1","force":true}`,
			Typing: approve.Typing{Param: "note_id", Value: "n1"},
		},
		{
			Operation: "share_note", Danger: gen.Reversible, Message: "Share note 'n2' with everybody?",
			Params: `{"note_id":"n2","with":["team@example.com","all@example.com"]}`, Lifetime: 50 * time.Second,
		},
		{
			Operation: "empty_trash", Danger: gen.Dangerous, Message: "Remove all 1,204 notes in the trash?", Params: `{}`,
			Needs: approve.Needs{
				Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, NotRequester: true, Reason: true,
			},
		},
		{
			Kind: approve.Continuation, Operation: "search_notes", Danger: gen.Safe,
			Message: "Quota requests_per_day of this caller pauses at 900, and 900 is used. It stops at 1000.\n" +
				"Let all calls of this caller, of whatever operation, go on until midnight?",
		},
		{
			Kind: approve.Enquiry, Execution: "exec_1", Operation: "import_notes", Danger: gen.Reversible,
			Message: "312 of 5,000 notes are there already. Replace them?",
		},
	} {
		if q.Kind == "" {
			q.Kind = approve.Confirmation
		}
		if q.Lifetime == 0 {
			q.Lifetime = 30 * time.Minute
		}
		q.Adapter, q.Caller, q.At, q.Binding[0] = "notes", ann, now.Add(time.Duration(i-9)*time.Second), byte(i)
		if _, _, err := inbox.Ask(ctx, q); err != nil {
			return err
		}
	}
	holds, err := verify.New(verify.Options{Store: state, Adapter: "notes"})
	if err != nil {
		return err
	}
	_, err = holds.Open(ctx, verify.Subject{
		Caller: ann, Agent: "release_bot", Block: true, Reasons: []string{"A rule of the policy denies rm -rf *"},
		Says: "executing shell command: rm -rf /srv/www",
	})
	return err
}
