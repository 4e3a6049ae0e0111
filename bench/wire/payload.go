package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
)

// smallText is the small request: 6 fields, 150 bytes.
const smallText = `{"title":"Buy milk and bread on the way home","slug":"buy-milk-and-bread","priority":"high",` +
	`"estimate":30,"urgent":true,"due_at":"2026-03-01T09:00:00Z"}`

// MediumRequest is the medium request: 10 fields, 1 KB.
const MediumRequest = mediumStart +
	`"owner":{"name":"Ada Lovelace","email":"ada.lovelace@example.org","level":7},"labels":{"team":"core",` +
	`"cost_centre":"4711","region":"emea","stage":"draft","audience":"board and auditors","source":"ledger"},` +
	`"due_at":"2026-03-01T09:00:00.5Z"}`

// mediumStart is what the medium request and the medium patch begin with.
const mediumStart = `{"title":"Write the quarterly report for the board and send it around before the meeting",` +
	`"notes":"Ask Ada for ` +
	`the numbers first: she has the ledger, Grace the exchange rates.\nWhat the auditors called \"open\" in spring ` +
	`gets a table of its own, with a column for the answer, one for who gave it and one for the day; whatever has ` +
	`none by then is marked and comes back in the next report. Keep last year's figures in the appendix, line by ` +
	`line, so that nobody has to look for them in the archive again. Send a draft to the three of them on Friday; ` +
	`what they have not answered by Monday noon counts as agreed upon, and is printed.",` +
	`"slug":"quarterly-report-2026-for-the-board","priority":"high","estimate":480,"urgent":true,"tags":["work",` +
	`"finance","board","quarterly","report","auditors"],`

// largeText is the large request: a list of structs, 64 KB.
func largeText() string {
	priorities := []string{"low", "medium", "high"}
	places := []string{"hall A, row 3", "hall B, row 11", "yard"}
	var text strings.Builder
	text.WriteString(`{"items":[`)
	for i := range 343 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"sku":"lamp-%d-steel","name":"Desk lamp number %d, steel",`+
			`"comment":"Box %d of the spring delivery",`+
			`"place":"%s","priority":"%s","quantity":%d,"weight":%g,"fragile":%t}`,
			i*7919%10000, i, i*31%97, places[i%3], priorities[i%3], i*13%1000, float64(i%40)/4+0.25, i%5 == 0)
	}
	text.WriteString(`]}`)
	return text.String()
}

// decoded reads text as encoding/json does.
func decoded[T any](text string) (T, error) {
	var v T
	err := json.Unmarshal([]byte(text), &v)
	return v, err
}

// todos returns n todos that differ.
func todos(n int) ([]service.Todo, error) {
	all := make([]service.Todo, n)
	for i := range all {
		var err error
		if all[i], err = decoded[service.Todo](MediumRequest); err != nil {
			return nil, err
		}
		all[i].Slug = fmt.Sprintf("%s-%d", all[i].Slug, i)
		all[i].Notes = all[i].Notes[:40+i]
		all[i].Estimate += i
		all[i].DueAt = all[i].DueAt.Add(time.Duration(i) * time.Hour)
	}
	return all, nil
}
