package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// observed are the names of spans, events, attributes and metrics that the conventions have, or that adapters were
// designed to have (the design of issue 19, §7.1), and whether adapters have them.
var observed = map[string]bool{
	"tools/call": true, "aql": true, "attempt": true, "step": true, // spans
	"record_execution_step {agent}": false,
	"directive":                     true, "taken_over": true, "paused": true, "cancelled": true, // events
	"mcp.method.name": true, "mcp.session.id": true, "mcp.protocol.version": true, "jsonrpc.request.id": true,
	"gen_ai.operation.name": true, "gen_ai.tool.name": true, "gen_ai.agent.name": true, "gen_ai.conversation.id": true,
	"client.address": false, "gen_ai.tool.call.arguments": false, "gen_ai.tool.call.result": false,
	"network.transport": true, "error.type": true, "rpc.response.status_code": true,
	"aql.operation.name": true, "aql.operation.category": true, "aql.danger": true, "aql.endpoint": true,
	"aql.gate.decision": true, "aql.gate.rule": true, "aql.confirmed": true, "aql.execution.id": true,
	"aql.execution.attempt": true, "aql.agent.name": false, "aql.loop.tier": true,
	"mcp.server.operation.duration": true, "mcp.server.session.duration": true, // metrics
	"aql.gate.decisions": true, "aql.approvals.open": true, "aql.approvals.wait": true, "aql.executions": true,
	"aql.execution.duration": true, "aql.execution.takeovers": true, "aql.execution.queue.age": true,
	"aql.loop.directives": true, "aql.verify.failures": true, "aql.store.duration": true, "aql.audit.queue": true,
	"aql.quota.used": true,
	"-otel-content":  false, // a flag
}

// Each of these names is in what a service exports, or the page about it says why not.
func TestObservedNames(t *testing.T) {
	root := repository(t)
	goldens, err := filepath.Glob(filepath.Join(root, "runtime/observe/otel/testdata/*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	var exported strings.Builder
	for _, file := range goldens {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exported.Write(text)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, absent, _ := strings.Cut(string(page), "## What is left out\n")
	absent, _, _ = strings.Cut(absent, "\n## ")
	leftOut := make(map[string]bool)
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(absent, -1) {
		for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			leftOut[span[1]] = true
		}
	}
	for name, want := range observed {
		here := regexp.MustCompile(`(?m)(?:^|[ {,(])` + regexp.QuoteMeta(name) + `(?:$|[ =,)])`)
		if got := here.MatchString(exported.String()); got != want {
			t.Errorf("%s: it is exported: %t, want %t", name, got, want)
		}
		if leftOut[name] == want {
			t.Errorf("%s: docs/observability.md leaves it out: %t, want %t", name, leftOut[name], !want)
		}
		delete(leftOut, name)
	}
	for name := range leftOut {
		t.Errorf("docs/observability.md leaves out %s, which nobody expects", name)
	}
}
