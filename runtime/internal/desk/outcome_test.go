package desk

import (
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
)

// Who asks may be faster than the person reads what has become of the approval. Only agents that were held are lifted.
func TestOutcomesOfWhatWasUsed(t *testing.T) {
	for kind, want := range map[approve.Kind]string{
		approve.Confirmation: "It is approved. The agent has sent its request again, and it has run.",
		approve.Continuation: "It is approved. All calls of the caller go on until the quota resets.",
		approve.Enquiry:      "It is approved. The execution goes on.",
		approve.Step:         "It is approved. The agent has been told so.",
		approve.Pause:        "It is lifted: execution exec_1 of agent import_bot is not paused any more.",
		approve.Block:        "It is lifted: agent import_bot is not blocked any more.",
	} {
		item := &approve.Item{State: approve.Used}
		item.Kind, item.Agent, item.Execution = kind, "import_bot", "exec_1"
		if got := Outcome(item, "It", time.Now()); got != want {
			t.Errorf("of the kind %s it says %q, and %q was wanted", kind, got, want)
		}
	}
}
