package compat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// modes says which surfaces a mode has (endpoint modes §3.1).
var modes = map[string][]string{"semantic": {"semantic"}, "single": {"single"}, "all": {"semantic", "single"}}

// protocol compares the _protocol metadata.
func (c *comparison) protocol() {
	old, new := &c.old.protocol, &c.new.protocol
	c.text("version", "protocol-version-changed", "the version of MCP-AQL", old.Version, new.Version)
	c.text("conformance", "conformance-changed", "the conformance level", old.Conformance, new.Conformance)
	if old.Mode != new.Mode {
		class, message := Breaking, fmt.Sprintf("the endpoint mode changed from %q to %q: tools that agents use are gone", old.Mode, new.Mode)
		if covers(modes[new.Mode], modes[old.Mode]) {
			class, message = Compatible, fmt.Sprintf("the endpoint mode changed from %q to %q: all tools remain", old.Mode, new.Mode)
		}
		c.report(place{path: "mode"}, class, "mode-changed", old.Mode, new.Mode, message)
	}
	if old.Profile != new.Profile {
		class, message := Notable, fmt.Sprintf("the endpoint profile changed from %q to %q; no operation moved", old.Profile, new.Profile)
		if n := len(c.moved()); n > 0 {
			class, message = Breaking, fmt.Sprintf("the endpoint profile changed from %q to %q, and %s moved", old.Profile, new.Profile, plural(n, "operation"))
		}
		c.report(place{path: "profile"}, class, "profile-changed", old.Profile, new.Profile, message)
	}
	if before, after := c.old.prefix(), c.new.prefix(); before != after {
		c.report(place{path: "prefix"}, Breaking, "prefix-changed", before, after,
			fmt.Sprintf("the tool prefix changed from %q to %q: every tool has another name", before, after))
	}
	c.capabilities()
	c.limits()
	c.text("concurrency", "concurrency-changed", "the concurrency model", old.Concurrency, new.Concurrency)
	switch {
	case old.SupportsETag && !new.SupportsETag:
		c.report(place{path: "supports_etag"}, Breaking, "capability-removed", true, false, "capability supports_etag is off: if_match is no longer honoured")
	case new.SupportsETag && !old.SupportsETag:
		c.report(place{path: "supports_etag"}, Compatible, "capability-added", false, true, "capability supports_etag is on")
	}
	if old.MaxConcurrent != new.MaxConcurrent {
		c.limit("max_concurrent_requests", integer(old.MaxConcurrent), integer(new.MaxConcurrent))
	}
}

func integer(n int) json.RawMessage {
	if n == 0 {
		return nil
	}
	return literal(n)
}

// text compares a member of the metadata that says something and promises nothing by itself.
func (c *comparison) text(path, kind, what, old, new string) {
	if old != new {
		c.report(place{path: path}, Notable, kind, old, new, fmt.Sprintf("%s changed from %q to %q", what, old, new))
	}
}

func (c *comparison) capabilities() {
	old, new := c.old.protocol.Capabilities, c.new.protocol.Capabilities
	for _, name := range union(old, new) {
		before, after := compact(old[name]), compact(new[name])
		at := place{path: "capabilities." + name}
		switch {
		case string(before) == string(after):
		case string(before) == "true":
			c.report(at, Breaking, "capability-removed", before, after, fmt.Sprintf("capability %s is off", name))
		case string(after) == "true":
			c.report(at, Compatible, "capability-added", before, after, fmt.Sprintf("capability %s is on", name))
		case before == nil && string(after) == "false", after == nil && string(before) == "false":
		default:
			c.report(at, Notable, "capability-changed", before, after, fmt.Sprintf("capability %s changed from %s to %s", name, shown(before), shown(after)))
		}
	}
}

func (c *comparison) limits() {
	old, new := c.old.protocol.Limits, c.new.protocol.Limits
	for _, name := range union(old, new) {
		if before, after := compact(old[name]), compact(new[name]); string(before) != string(after) {
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
		c.report(at, Notable, "limit-unstated", before, nil, fmt.Sprintf("limit %s is no longer stated; it was %s", name, before))
	case compareNumbers(after, before) < 0:
		c.report(at, Breaking, "limit-lowered", before, after, fmt.Sprintf("limit %s was lowered from %s to %s", name, before, after))
	case compareNumbers(after, before) > 0:
		c.report(at, Compatible, "limit-raised", before, after, fmt.Sprintf("limit %s was raised from %s to %s", name, before, after))
	}
}

func union(a, b map[string]json.RawMessage) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// shown is a value as messages write it.
func shown(text json.RawMessage) string {
	if text == nil {
		return "nothing"
	}
	return string(text)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

const unifiedTool = "mcp_aql"

// prefix is what stands in front of every tool name of the protocol's form; empty where tools have names of their own.
func (s *Snapshot) prefix() string {
	for _, o := range s.sequence {
		if before, _, ok := strings.Cut(o.Tool, unifiedTool); ok {
			return before
		}
	}
	return ""
}

// moved lists the operations that both versions have, in different families.
func (c *comparison) moved() []string {
	var names []string
	for _, o := range c.new.sequence {
		if before := c.old.byName[o.Name]; before != nil && before.Endpoint != o.Endpoint {
			names = append(names, o.Name)
		}
	}
	return names
}
