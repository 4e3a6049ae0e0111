package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/store"
	goredis "github.com/redis/go-redis/v9"
)

// meanings explains the codes that errors of the server begin with. The server's own text is left out: it may repeat
// what was sent to it, such as values, tokens and passwords.
var meanings = map[string]string{
	"NOAUTH":    "the server demands a password: put it into the location of the store",
	"WRONGPASS": "the server refuses the user or the password in the location of the store",
	"NOPERM": "the server denies the user what the store needs: " +
		"allow the commands that the documentation of the store lists",
	"READONLY":    "the server is a replica and takes no changes: the location of the store must lead to the primary",
	"LOADING":     "the server has just started and is loading its data: try again soon",
	"BUSY":        "the server is busy with a script: try again soon",
	"MASTERDOWN":  "the server is a replica without a primary",
	"CLUSTERDOWN": "the cluster is down",
	"TRYAGAIN":    "the cluster is moving the data of the store: try again soon",
	"ASK":         "the cluster is moving the data of the store: try again soon",
	"MOVED":       "the cluster keeps the data of the store elsewhere",
	"MISCONF":     "the server cannot write to its disk and takes no changes",
	"NOREPLICAS":  "the server has fewer replicas than it demands and takes no changes",
	"WRONGTYPE": "the server holds something else under a key of the store: " +
		"give the store a space or a database of its own",
	"AQLDAMAGED": "a counter is damaged, or was written by something else: " +
		"give the store a space or a database of its own",
	"AQLRANGE": "a counter would exceed 9007199254740991, which is the most that it can hold",
}

// busyCodes are the codes of a server that has too much to do for a moment.
var busyCodes = []string{"BUSY", "LOADING", "TRYAGAIN", "ASK"}

// explain returns what failed and, if known, what to do about it. It does not repeat the server's text or an address.
func explain(err error) error {
	var answer goredis.Error
	var network *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errNotServed):
		return fmt.Errorf("%w: %w", store.ErrBusy, errNotServed)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server did not answer in time: %w", context.DeadlineExceeded)
	case errors.As(err, &answer):
		code, _, _ := strings.Cut(strings.TrimPrefix(answer.Error(), "-"), " ")
		return refusal(code)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the server did not answer in time: %w", context.DeadlineExceeded)
	case errors.As(err, &network):
		return fmt.Errorf("the server cannot be reached: %w", network.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server has closed the connection")
	case errors.Is(err, goredis.ErrPoolTimeout), errors.Is(err, goredis.ErrPoolExhausted):
		return fmt.Errorf("%w: all connections to the server are in use", store.ErrBusy)
	case errors.Is(err, goredis.ErrClosed):
		return errors.New("the store has been closed")
	}
	return fmt.Errorf("the connection to the server failed: %w", err)
}

// refusal returns the error for a code of the server.
func refusal(code string) error {
	if code == "OOM" {
		return fmt.Errorf("%w: the server has reached its maxmemory", store.ErrFull)
	}
	if meaning, ok := meanings[code]; ok && slices.Contains(busyCodes, code) {
		return fmt.Errorf("%w: %s", store.ErrBusy, meaning)
	} else if ok {
		return errors.New(meaning)
	}
	for _, letter := range code {
		if letter < 'A' || letter > 'Z' {
			code = "ERR"
		}
	}
	return fmt.Errorf("the server refuses the request with the code %.20s; its log or MONITOR may tell more", code)
}
