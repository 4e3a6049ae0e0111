package compat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// modes lists the surfaces of each mode (MCP-AQL endpoint modes §3.1).
var modes = map[string][]string{"semantic": {"semantic"}, "single": {"single"}, "all": {"semantic", "single"}}

// protocol compares the _protocol metadata.
func (c *comparison) protocol() {
	before, after := &c.before.protocol, &c.after.protocol
	c.text("version", "protocol-version-changed", "the version of MCP-AQL", before.Version, after.Version)
	c.text("conformance", "conformance-changed", "the conformance level", before.Conformance, after.Conformance)
	if before.Mode != after.Mode {
		class, message := Breaking,
			fmt.Sprintf("the endpoint mode changed from %q to %q: tools that agents use are gone", before.Mode, after.Mode)
		if containsAll(modes[after.Mode], modes[before.Mode]) {
			class, message = Compatible,
				fmt.Sprintf("the endpoint mode changed from %q to %q: all tools remain", before.Mode, after.Mode)
		}
		c.report(place{path: "mode"}, class, "mode-changed", before.Mode, after.Mode, message)
	}
	if before.Profile != after.Profile {
		class, message := Notable,
			fmt.Sprintf("the endpoint profile changed from %q to %q; no operation moved", before.Profile, after.Profile)
		if n := len(c.moved()); n > 0 {
			class, message = Breaking, fmt.Sprintf("the endpoint profile changed from %q to %q, and %s moved",
				before.Profile, after.Profile, words.Count(n, "operation"))
		}
		c.report(place{path: "profile"}, class, "profile-changed", before.Profile, after.Profile, message)
	}
	if oldPrefix, newPrefix := c.before.prefix(), c.after.prefix(); oldPrefix != newPrefix {
		c.report(place{path: "prefix"}, Breaking, "prefix-changed", oldPrefix, newPrefix,
			fmt.Sprintf("the tool prefix changed from %q to %q: every tool has another name", oldPrefix, newPrefix))
	}
	c.capabilities()
	c.limits()
	c.text("concurrency", "concurrency-changed", "the concurrency model", before.Concurrency, after.Concurrency)
	switch {
	case before.SupportsETag && !after.SupportsETag:
		c.report(place{path: "supports_etag"}, Breaking,
			"capability-removed", true, false, "capability supports_etag is off: if_match is no longer honoured")
	case after.SupportsETag && !before.SupportsETag:
		c.report(place{path: "supports_etag"}, Compatible, "capability-added", false, true, "capability supports_etag is on")
	}
	if before.MaxConcurrent != after.MaxConcurrent {
		c.limit("max_concurrent_requests", integer(before.MaxConcurrent), integer(after.MaxConcurrent))
	}
}

func integer(n int) json.RawMessage {
	if n == 0 {
		return nil
	}
	return literal(n)
}

// text compares a member of the metadata of which no change can break an agent.
func (c *comparison) text(path, kind, what, before, after string) {
	if before != after {
		c.report(place{path: path}, Notable, kind, before, after,
			fmt.Sprintf("%s changed from %q to %q", what, before, after))
	}
}

func (c *comparison) capabilities() {
	oldFlags, newFlags := c.before.protocol.Capabilities, c.after.protocol.Capabilities
	for _, name := range union(oldFlags, newFlags) {
		before, after := compact(oldFlags[name]), compact(newFlags[name])
		at := place{path: "capabilities." + name}
		switch {
		case string(before) == string(after):
		case string(before) == "true":
			c.report(at, Breaking, "capability-removed", before, after, fmt.Sprintf("capability %s is off", name))
		case string(after) == "true":
			c.report(at, Compatible, "capability-added", before, after, fmt.Sprintf("capability %s is on", name))
		case before == nil && string(after) == "false", after == nil && string(before) == "false":
		default:
			c.report(at, Notable, "capability-changed", before, after,
				fmt.Sprintf("capability %s changed from %s to %s", name, shown(before), shown(after)))
		}
	}
}

func (c *comparison) limits() {
	oldLimits, newLimits := c.before.protocol.Limits, c.after.protocol.Limits
	for _, name := range union(oldLimits, newLimits) {
		if before, after := compact(oldLimits[name]), compact(newLimits[name]); string(before) != string(after) {
			c.limit("limits."+name, before, after)
		}
	}
}

func (c *comparison) limit(path string, before, after json.RawMessage) {
	at := place{path: path}
	name := path[strings.LastIndex(path, ".")+1:]
	switch {
	case before == nil:
		c.report(at, Notable, "limit-stated", nil, after, fmt.Sprintf("limit %s is stated: %s", name, after))
	case after == nil:
		c.report(at, Notable,
			"limit-unstated", before, nil, fmt.Sprintf("limit %s is no longer stated; it was %s", name, before))
	case compareNumbers(after, before) < 0:
		c.report(at, Breaking,
			"limit-lowered", before, after, fmt.Sprintf("limit %s was lowered from %s to %s", name, before, after))
	case compareNumbers(after, before) > 0:
		c.report(at, Compatible,
			"limit-raised", before, after, fmt.Sprintf("limit %s was raised from %s to %s", name, before, after))
	}
}

func union(a, b map[string]json.RawMessage) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// shown returns a value for a message.
func shown(text json.RawMessage) string {
	if text == nil {
		return "nothing"
	}
	return string(text)
}

const unifiedTool = "mcp_aql"

// prefix returns the prefix of the tool names; empty: there is none, or the tools do not have names of MCP-AQL.
func (s *Snapshot) prefix() string {
	for _, o := range s.sequence {
		if before, _, ok := strings.Cut(o.Tool, unifiedTool); ok {
			return before
		}
	}
	return ""
}

// moved returns the operations that both versions have, in different families.
func (c *comparison) moved() []string {
	var names []string
	for _, o := range c.after.sequence {
		if before := c.before.byName[o.Name]; before != nil && before.Endpoint != o.Endpoint {
			names = append(names, o.Name)
		}
	}
	return names
}
