package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
)

// What the table says that a candidate leaves out, it does leave out, and what it does not say, the candidate does: each
// candidate refuses every wrong request but those of the kinds that are said of it.
func TestCandidatesLeaveOutWhatTheTableSays(t *testing.T) {
	for _, tt := range []struct{ leavesOut, name, old, new string }{
		{constraints, "a number above its bound", `"estimate":480`, `"estimate":10001`},
		{constraints, "a text that does not match its pattern", `"quarterly-report`, `"Quarterly-report`},
		{constraints, "a text that no enum holds", `"high"`, `"urgent"`},
		{constraints, "a bound further inside", `"level":7`, `"level":11`},
		{constraints, "a text that is too short", `"title":"Write the quarterly report for the board and send it around before the meeting"`, `"title":""`},
		{constraints, "too many entries", `"tags":[`, `"tags":[` + strings.Repeat(`"a",`, 20)},
		{required, "a required name that is absent", `"slug":"quarterly-report-2026-for-the-board",`, ``},
		{unknownNames, "an unknown name", `"urgent":true`, `"urgent":true,"colour":"red"`},
		{unknownNames, "an unknown name further inside", `"level":7`, `"level":7,"rank":1`},
		{repeatedNames, "a repeated name", `"estimate":480`, `"estimate":480,"estimate":480`},
		{repeatedNames, "a repeated name in a map", `"team":"core"`, `"team":"core","team":"core"`},
		{otherCase, "another case", `"urgent"`, `"Urgent"`},
		{brokenUTF8, "invalid UTF-8", `Ada Lovelace`, "Ada \xffLovelace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(mediumText, tt.old, tt.new, 1)
			if text == mediumText {
				t.Fatal("nothing was changed")
			}
			decoding, err := decode[service.CreateTodoRequest](t.Context(), "create_todo", text)
			if err != nil {
				t.Fatal(err)
			}
			calls, err := call[service.CreateTodoRequest](t.Context(), "create_todo", text)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range slices.Concat(decoding.Candidates, calls.Candidates) {
				if c.Floor {
					continue
				}
				_, err := c.Run()
				said := strings.Contains(c.Lacks, tt.leavesOut)
				if said && err != nil {
					t.Errorf("%s refuses it, though the table says that it does not look at %s: %v", c.Name, tt.leavesOut, err)
				}
				if !said && err == nil {
					t.Errorf("%s accepts it, and the table does not say that it leaves out %s", c.Name, tt.leavesOut)
				}
			}
		})
	}
}
