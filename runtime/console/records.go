package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
)

const (
	// mostRecordPages bounds the pages of records, whose lines are in memory while they are looked for.
	mostRecordPages = 20
	// longestSearch bounds how long looking through the audit log may take.
	longestSearch = 20 * time.Second
	// longestRecord is how much of a record is kept while others are looked for, in bytes.
	longestRecord = 16 << 10
)

// matcher reports whether a record is one that is looked for; nil: each is.
type matcher func(*record) bool

// matcher returns what a search looks for; nil: everything. It fails if a time is none.
func (s *search) matcher(now time.Time) (matcher, error) {
	if *s == (search{}) {
		return nil, nil
	}
	from, err := timeTyped(s.From, now)
	if err != nil {
		return nil, err
	}
	until, err := timeTyped(s.Until, now)
	if err != nil {
		return nil, err
	}
	if !until.IsZero() {
		until = until.Add(time.Minute) // a form has no seconds
	}
	has := func(text, wanted string) bool {
		return wanted == "" || strings.Contains(strings.ToLower(text), strings.ToLower(wanted))
	}
	return func(r *record) bool {
		return !r.Time.Before(from) && (until.IsZero() || r.Time.Before(until)) &&
			(s.Event == "" || string(r.Event) == s.Event) && has(r.Client.User, s.Caller) &&
			has(r.Operation, s.Operation) && (s.Agent == "" || r.Agent == s.Agent)
	}, nil
}

// line is the matcher of a line; of nil, every one matches.
func (m matcher) line(line []byte) bool {
	var r record
	return m == nil || json.Unmarshal(line, &r) == nil && m(&r)
}

// timeTyped reads a time from a form, on the clock of now; zero: there is none.
func timeTyped(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("a time is written as 2026-03-01T09:00")
}

// lookForRecords fills a page in. It returns the status of the answer.
func (c *console) lookForRecords(ctx context.Context, body *recordsPage) (int, error) {
	now := c.now()
	matches, err := body.Search.matcher(now)
	if err != nil {
		body.Error = sentence(err)
		return http.StatusUnprocessableEntity, nil
	}
	ctx, stop := context.WithTimeout(ctx, longestSearch)
	defer stop()
	select { // each reading takes a processor and the memory of its records
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	found, more, summary, err := readRecords(ctx, &c.records, body.Page*perPage, matches)
	broken, isBroken := errors.AsType[*audit.BrokenError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		body.Error = "There is more than can be looked through here in time. Download the records, or keep fewer files."
		return http.StatusServiceUnavailable, nil
	case err != nil && !isBroken:
		return 0, err
	}
	body.Verdict = verdictOf(&summary, broken, now, len(c.o.AuditKey) > 0)
	slices.Reverse(found)
	newer := min((body.Page-1)*perPage, len(found))
	for _, line := range found[newer:] {
		body.Rows = append(body.Rows, recordRowOf(line, now))
	}
	body.beside(c.o.Path, more)
	return http.StatusOK, nil
}

// beside notes where the pages beside a page are.
func (p *recordsPage) beside(path string, more bool) {
	at := func(page int) string {
		query := url.Values{}
		for name, value := range map[string]string{
			"from": p.Search.From, "until": p.Search.Until, "event": p.Search.Event, "caller": p.Search.Caller,
			"operation": p.Search.Operation, "agent": p.Search.Agent,
		} {
			if value != "" {
				query.Set(name, value)
			}
		}
		query.Set("page", strconv.Itoa(page))
		return path + "/audit?" + query.Encode()
	}
	if p.Page > 1 {
		p.Newer = at(p.Page - 1)
	}
	switch {
	case !more:
	case p.Page < mostRecordPages:
		p.Older = at(p.Page + 1)
	default:
		p.Capped = true
	}
}

// readRecords returns the last records of the audit log that match, of most at most, and whether there are more.
func readRecords(
	ctx context.Context, of *audit.Reader, most int, matches matcher,
) (found [][]byte, more bool, s audit.Summary, err error) {
	lines, count, last := make([][]byte, most), 0, uint64(0)
	if matches == nil {
		last = uint64(most) + 1 // and whether there are more
	}
	s, err = of.Read(ctx, last, func() func([]byte) error {
		count = 0
		return func(line []byte) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !matches.line(line) {
				return nil
			}
			at := count % most
			lines[at] = append(lines[at][:0], short(line)...)
			count++
			return nil
		}
	})
	if count <= most {
		return lines[:count], false, s, err
	}
	return slices.Concat(lines[count%most:], lines[:count%most]), true, s, err
}

// short returns a line, and of a long one what pages have but for the parameters.
func short(line []byte) []byte {
	if len(line) <= longestRecord {
		return line
	}
	var r record
	if json.Unmarshal(line, &r) != nil {
		return nil
	}
	r.Parameters = json.RawMessage(`{"…":"there are too many to be shown here"}`)
	text, err := json.Marshal(&r)
	if err != nil {
		return nil
	}
	return text
}
