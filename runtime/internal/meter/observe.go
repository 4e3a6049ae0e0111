package meter

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// The statuses with which an API asks to wait. They are here, and not taken from net/http, because the package that
// generated code belongs to imports this one and links no HTTP.
const (
	tooManyRequests    = 429
	serviceUnavailable = 503
)

// Observe reads the limits that the API behind the adapter reports in a response: the headers that limits name, and
// Retry-After with status 429 or 503 (MCP-AQL rate limiting §4.2). Calls are blocked until the time that the API asks
// to wait for. header is an http.Header, or any map of that form; the case of its names does not matter.
func (m *Meter) Observe(ctx context.Context, status int, header map[string][]string, now time.Time) error {
	if until, ok := RetryAfter(status, header, now); ok {
		if err := m.waitUntil(ctx, until); err != nil {
			return err
		}
	}
	for i := range m.options.Limits {
		limit := &m.options.Limits[i]
		remaining, err := strconv.ParseInt(first(header, limit.RemainingHeader), 10, 64)
		if limit.RemainingHeader == "" || err != nil || remaining > 0 {
			continue
		}
		until, ok := moment(first(header, limit.ResetHeader), now)
		if !ok {
			until = now.Add(windows[limit.Window])
		}
		if err := m.waitUntil(ctx, until); err != nil {
			return err
		}
	}
	return nil
}

// RetryAfter returns until when an API asks to wait in a response; ok is false where it does not.
func RetryAfter(status int, header map[string][]string, now time.Time) (until time.Time, ok bool) {
	if status != tooManyRequests && status != serviceUnavailable {
		return now, false
	}
	return moment(first(header, "Retry-After"), now)
}

// longestWait bounds the wait that an API can ask for.
const longestWait = 24 * time.Hour

// moment parses a time as HTTP headers spell it: Unix seconds, seconds from now, or a date.
func moment(text string, now time.Time) (time.Time, bool) {
	var at time.Time
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case seconds < 0:
			return now, false
		case seconds > 1e9:
			at = time.Unix(min(seconds, 1<<40), 0)
		default:
			at = now.Add(time.Duration(min(seconds, int64(longestWait/time.Second))) * time.Second)
		}
	} else if at, err = parseDate(text); err != nil {
		return now, false
	}
	if limit := now.Add(longestWait); at.After(limit) {
		at = limit
	}
	return at, at.After(now)
}

// parseDate parses a date in the three formats that HTTP allows (RFC 9110 §5.6.7).
func parseDate(text string) (at time.Time, err error) {
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err = time.Parse(layout, text); err == nil {
			break
		}
	}
	return at, err
}

// first returns the first value of a header, whose name may be spelled in any case; empty if there is none.
func first(header map[string][]string, name string) string {
	for key, values := range header {
		if len(values) > 0 && strings.EqualFold(key, name) {
			return values[0]
		}
	}
	return ""
}

func (m *Meter) waitUntil(ctx context.Context, until time.Time) error {
	if _, err := m.store.Take(ctx, []store.Claim{{Key: m.waitKey(), N: 1, Ends: until}}); err != nil {
		return fmt.Errorf("taking note of a limit: %w", err)
	}
	return nil
}
