package serve

import (
	"log/slog"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy"
)

// The environment sets the mode of a safety loop that there is (REQ-SL-01, T-92).
func TestLoopMode(t *testing.T) {
	service := &aql.Loop{Mode: policy.Monitoring}
	for name, tt := range map[string]struct {
		environ []string
		loop    aql.SafetyLoop
		mode    policy.LoopMode // empty: no loop
		warning string
		fault   string
	}{
		"nothing is said":      {nil, service, policy.Monitoring, "", ""},
		"switched off":         {[]string{"MCP_AQL_SAFETY_LOOP=disabled"}, service, policy.Disabled, "", ""},
		"as the protocol says": {[]string{"MCPAQL_SAFETY_LOOP=logging"}, service, policy.Logging, "", ""},
		"both": {
			[]string{"MCPAQL_SAFETY_LOOP=logging", "MCP_AQL_SAFETY_LOOP=enforcing"}, service, policy.Enforcing, "", "",
		},
		"empty":        {[]string{"MCP_AQL_SAFETY_LOOP="}, service, policy.Monitoring, "", ""},
		"no such mode": {[]string{"MCP_AQL_SAFETY_LOOP=off"}, service, policy.Monitoring, "", `MCP_AQL_SAFETY_LOOP is "off"`},
		"no loop": {
			[]string{"MCP_AQL_SAFETY_LOOP=enforcing"}, nil, "", "MCP_AQL_SAFETY_LOOP is set, and this adapter has no", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			options := aql.Options{Loop: tt.loop}
			err := environment{lookup: lookup(tt.environ)}.loopMode(&options, slog.New(slog.NewTextHandler(&log, nil)))
			if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%v", err)
			}
			var mode policy.LoopMode
			if l, ok := options.Loop.(*aql.Loop); ok {
				mode = l.Mode
			}
			if mode != tt.mode || service.Mode != policy.Monitoring {
				t.Errorf("the mode is %q, want %q; that of the service is %q", mode, tt.mode, service.Mode)
			}
			if !strings.Contains(log.String(), tt.warning) || tt.warning == "" && log.Len() > 0 {
				t.Errorf("the log has %s", log.String())
			}
		})
	}
}
