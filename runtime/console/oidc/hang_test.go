package oidc_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/console/oidc"
	"github.com/aqltag/aqltag/runtime/identity"
)

// calls is a provider that answers no call until the caller gives up, or fails them at once.
type calls struct {
	fails bool
	all   atomic.Int32
}

func (c *calls) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if c.fails {
		return nil, errors.New("no such host")
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// While the provider hangs, all who want to log in wait for one call of it together, and for a moment after that nobody
// calls it again.
func TestProvidersThatHang(t *testing.T) {
	for name, client := range map[string]func(http.RoundTripper) *http.Client{
		"a client with a timeout": func(to http.RoundTripper) *http.Client {
			return &http.Client{Transport: to, Timeout: 10 * time.Second}
		},
		"a client without one": func(to http.RoundTripper) *http.Client { return &http.Client{Transport: to} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := new(calls)
				login, err := oidc.New(oidc.Options{
					Issuer: "https://login.example", ClientID: clientID, Client: client(provider),
					Roles: map[identity.Role][]string{identity.Admin: {"*"}},
				})
				if err != nil {
					t.Fatal(err)
				}
				fails := func(ctx context.Context) {
					if _, _, err := login.Begin(ctx, back, false); err == nil {
						t.Error("a login has begun at a provider that hangs")
					}
				}
				start := time.Now()
				var all sync.WaitGroup
				for range 100 {
					all.Go(func() { fails(t.Context()) })
				}
				gone, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				fails(gone)
				if took := time.Since(start); took != time.Second {
					t.Errorf("who goes away after a second waits %v", took)
				}
				all.Wait()
				if took, n := time.Since(start), provider.all.Load(); took != 10*time.Second || n != 1 {
					t.Errorf("100 people wait %v, for %d calls", took, n)
				}
				provider.fails = true
				for range 10 {
					fails(t.Context())
				}
				if took, n := time.Since(start), provider.all.Load(); took != 10*time.Second || n != 1 {
					t.Errorf("who comes at once after that waits: %v, %d calls", took, n)
				}
				time.Sleep(5 * time.Second)
				_, _, err = login.Begin(t.Context(), back, false)
				if n := provider.all.Load(); n != 2 || err == nil || !strings.Contains(err.Error(), "no such host") {
					t.Errorf("five seconds later: %d calls, %v", n, err)
				}
			})
		})
	}
}
