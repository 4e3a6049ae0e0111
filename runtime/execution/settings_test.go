package execution_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// An engine is not made with settings that it could not work by.
func TestSettingsBelowZeroAreRefused(t *testing.T) {
	for name, o := range map[string]execution.Options{
		"Slots":  {Slots: -1},
		"Lease":  {Lease: -1},
		"Poll":   {Poll: -1},
		"Drain":  {Drain: -1},
		"Grace":  {Grace: -1},
		"Losses": {Losses: -1},
		"Most":   {Most: -1},
	} {
		t.Run(name, func(t *testing.T) {
			o.Store = new(store.Memory)
			if _, err := execution.New(o); err == nil || !strings.Contains(err.Error(), name+" of -1") {
				t.Errorf("error %v, want one that mentions %s", err, name)
			}
		})
	}
}
