package aql

import (
	"slices"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/agents"
	"github.com/google/go-cmp/cmp"
)

// REQ-NT-01: introspection announces the types of notifications that are sent, and no others. What goes wrong is the
// failure of the request that it concerns, so that no notification has the type error.
func TestNotificationsAreOfTheTypesThatAreAnnounced(t *testing.T) {
	types := gen.LoopTypes()
	at := slices.IndexFunc(types, func(t gen.Type) bool { return t.Name == "AgentNotification" })
	field := slices.IndexFunc(types[at].Fields, func(p gen.Param) bool { return p.Name == "type" })
	sent := []string{agents.PermissionPending, agents.AutonomyPause, agents.DangerZone, agents.Status}
	if diff := cmp.Diff(sent, types[at].Fields[field].Enum); diff != "" {
		t.Errorf("(-sent +announced)\n%s", diff)
	}
}
