package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/loopback"
	"github.com/aqltag/aqltag/runtime/store"
)

// ItemAddress returns the address of the page of an item, in the console at an address or a path. That may end with a
// slash.
func ItemAddress(console, id string) string { return strings.TrimSuffix(console, "/") + "/items/" + id }

// LinkAddress returns the address of a link that lets a person in, in the same way.
func LinkAddress(console, secret string) string {
	return strings.TrimSuffix(console, "/") + "/link/" + secret
}

// Elsewhere is the address of a console that another process serves, over the same store: this one listens nowhere, and
// its calls are on the pages of that console.
const Elsewhere = "elsewhere"

// PlacePart begins the keys under which the store has where consoles are: machine and port follow.
const PlacePart = "console/at/"

// IsHere reports whether the address of a console is one of this machine.
func IsHere(console string) bool { return IsOf(console, nil) }

// IsOf reports whether the address of a console is one of this machine, or of one of the hosts.
func IsOf(console string, hosts []string) bool {
	u, err := url.Parse(console)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil &&
		(loopback.Is(u.Host) || slices.ContainsFunc(hosts, func(of string) bool { return strings.EqualFold(of, u.Host) }))
}

// Place says where a console is, and which process serves it.
type Place struct {
	URL     string `json:"url"`
	Process int    `json:"process"`
}

// Places returns the addresses of the consoles that are served over a store.
func Places(ctx context.Context, s store.Store) ([]string, error) {
	const most = 100
	entries, err := s.List(ctx, PlacePart, "", most)
	if err != nil {
		return nil, fmt.Errorf("looking for consoles: %w", err)
	}
	var all []string
	for _, entry := range entries {
		var at Place
		if json.Unmarshal(entry.Value, &at) == nil && at.URL != "" {
			all = append(all, at.URL)
		}
	}
	return all, nil
}
