// Command accounts serves account numbers to the clients of the folder above: 64-bit integers that a client written in
// JavaScript would round.
package main

import (
	"context"
	"strconv"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/serve"
)

// Accounts are accounts by their number.
type Accounts struct {
	mu    sync.Mutex
	names map[int64]string
}

// Account is an account.
type Account struct {
	Number int64  `json:"number" aql:"string"` // Number of the account
	Name   string `json:"name"`                // Name of its owner
	// Read is the number as the server read it.
	Read string `json:"read"`
}

// CreateAccountRequest has the account to keep.
type CreateAccountRequest struct {
	_      struct{} `aql:"category=CREATE"`
	Number int64    `json:"number" aql:"required,string"`          // Number of the account
	Name   string   `json:"name" aql:"required,minlen=1,maxlen=8"` // Name of its owner
}

// CreateAccount keeps an account.
//
//aql:example {"number":"9007199254740993","name":"Ada"}
func (a *Accounts) CreateAccount(_ context.Context, req CreateAccountRequest) (*Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names[req.Number] = req.Name
	return a.account(req.Number), nil
}

// GetAccountRequest names an account.
type GetAccountRequest struct {
	_      struct{} `aql:"category=READ"`
	Number int64    `json:"number" aql:"required,string"` // Number of the account
}

// GetAccount returns an account.
//
//aql:example {"number":"9007199254740993"}
func (a *Accounts) GetAccount(_ context.Context, req GetAccountRequest) (*Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.names[req.Number]; !ok {
		return nil, aql.NotFound("account", strconv.FormatInt(req.Number, 10))
	}
	return a.account(req.Number), nil
}

func (a *Accounts) account(number int64) *Account {
	return &Account{Number: number, Name: a.names[number], Read: strconv.FormatInt(number, 10)}
}

func main() {
	serve.Main(NewRegistry(&Accounts{names: make(map[int64]string)}), serve.Options{Name: "accounts", Version: "1.0.0"})
}
