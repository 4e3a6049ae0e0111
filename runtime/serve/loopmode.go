package serve

import (
	"fmt"
	"log/slog"
	"slices"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy"
)

// loopModes are the environment variables with the mode of the execution safety loop: that of this package, and that of
// the protocol (MCP-AQL execution safety loop).
var loopModes = []string{"MCP_AQL_SAFETY_LOOP", "MCPAQL_SAFETY_LOOP"}

// loopMode sets the mode of the execution safety loop that the environment demands, if there is a loop.
func (e environment) loopMode(options *aql.Options, log *slog.Logger) error {
	for _, name := range loopModes {
		value, ok := e.lookup(name)
		if !ok || value == "" {
			continue
		}
		loop, ok := options.Loop.(interface {
			InMode(mode policy.LoopMode) aql.SafetyLoop
		})
		if !ok {
			log.Warn(name + " is set, and this adapter has no safety loop")
			return nil
		}
		mode := policy.LoopMode(value)
		if !slices.Contains(policy.LoopModes(), mode) {
			return fmt.Errorf("%s is %q: it is one of %v", name, value, policy.LoopModes())
		}
		options.Loop = loop.InMode(mode)
		return nil
	}
	return nil
}
