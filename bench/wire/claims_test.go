package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
)

// Candidates leave out what the table lists, and nothing else: each of them refuses every invalid request, except those
// that it would refuse only by what it leaves out.
func TestCandidatesLeaveOutWhatTheTableLists(t *testing.T) {
	for _, tt := range []struct{ leavesOut, name, old, new string }{
		{constraints, "a number above its bound", `"estimate":480`, `"estimate":10001`},
		{constraints, "a text that does not match its pattern", `"quarterly-report`, `"Quarterly-report`},
		{constraints, "a text that no enum holds", `"high"`, `"urgent"`},
		{constraints, "a bound further inside", `"level":7`, `"level":11`},
		{
			constraints, "a text that is too short",
			`"title":"Write the quarterly report for the board and send it around before the meeting"`, `"title":""`,
		},
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
			text := strings.Replace(MediumRequest, tt.old, tt.new, 1)
			if text == MediumRequest {
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
				listed := strings.Contains(c.LeavesOut, tt.leavesOut)
				if listed && err != nil {
					t.Errorf("%s refuses it, but the table lists %s as left out: %v", c.Name, tt.leavesOut, err)
				}
				if !listed && err == nil {
					t.Errorf("%s accepts it, but the table does not list %s as left out", c.Name, tt.leavesOut)
				}
			}
		})
	}
}
