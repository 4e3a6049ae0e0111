package aql

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// largestWarned bounds the warnings that are kept with an execution, in bytes: whoever lists executions reads them.
const largestWarned = 4 << 10

// size is about how many bytes a warning takes.
func (n *notice) size() int { return len(n.Message) + len(n.text) }

// kept returns the warnings that an attempt has given, as its execution keeps them: in the form of an answer, which is
// without those that must not be shown, and with those that answers have no room for as a number.
func (e *executions) kept(ctx context.Context, operation string, given *warnings) string {
	list, more := given.take()
	sound := notices{more: more, levels: e.adapter.options.Limits.NestingDepth - levelsAboveDetail}
	for _, warning := range list {
		if problem := sound.add(warning); problem != "" {
			e.adapter.logWithheld(ctx, operation, warning, problem)
		}
	}
	for ; len(sound.list) > 0 || sound.more > 0; sound.more++ {
		w := wire.NewWriter(nil)
		w.BeginObject()
		sound.write(w)
		w.EndObject()
		if w.Len() <= largestWarned || len(sound.list) == 0 {
			return string(w.Bytes())
		}
		largest := 0
		for i := range sound.list {
			if sound.list[i].size() > sound.list[largest].size() {
				largest = i
			}
		}
		e.adapter.logWithheld(ctx, operation, sound.list[largest].Warning, "there is no room to keep it")
		sound.list = slices.Delete(sound.list, largest, largest+1)
	}
	return ""
}

// warnAgain adds the warnings that an execution has kept to the answer of the request that ctx belongs to.
func warnAgain(ctx context.Context, kept string) {
	var answer struct {
		Warnings []struct {
			Code, Message string
			Severity      Severity
			Details       map[string]json.RawMessage
		}
	}
	if kept == "" || json.Unmarshal([]byte(kept), &answer) != nil {
		return
	}
	for _, w := range answer.Warnings {
		again := Warning{Code: w.Code, Message: w.Message, Severity: w.Severity}
		for name, value := range w.Details {
			again.details = append(again.details, detail{name, rawJSON(value)})
		}
		Warn(ctx, again)
	}
}
