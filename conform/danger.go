package conform

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Ranks of danger levels (MCP-AQL danger levels §2.1).
const (
	reversible  = 1
	destructive = 2
)

var (
	dangerLevels = []string{"safe", "reversible", "destructive", "dangerous", "forbidden"}
	dangerText   = regexp.MustCompile(`\[danger: *([a-z]+)`)
)

// dangerOf returns the rank of the danger level that introspection reports for an operation. If it reports none, the
// rank is the highest that category, permissions and name suggest: to leave out a harmless operation is better than to
// run a destructive one.
func (p *prober) dangerOf(o *operation) int {
	declared, _ := p.protocol["danger_levels"].(map[string]any)
	if declared == nil {
		declared, _ = p.protocol["danger"].(map[string]any)
	}
	level, _ := declared[o.Name].(string)
	if object, ok := declared[o.Name].(map[string]any); ok {
		level, _ = object["level"].(string)
	}
	if level == "" {
		if m := dangerText.FindStringSubmatch(o.Description); m != nil {
			level = m[1]
		}
	}
	if rank := slices.Index(dangerLevels, level); rank >= 0 {
		return rank
	}
	rank := map[string]int{"READ": 0, "CREATE": reversible, "UPDATE": reversible, "EXECUTE": reversible}
	danger, known := rank[o.Category]
	if !known { // DELETE, or not a category
		danger = destructive
	}
	if o.Permissions.Destructive && (o.Category == "READ" || o.Category == "CREATE") {
		danger = destructive
	}
	for _, pattern := range []string{
		"delete*", "remove_*", "purge*", "drop_*", "destroy_*", "wipe_*", "truncate_*", "erase_*", "clear_*", "reset_*",
		"unregister_*", "force_*", "bulk_*", "override_*", "bypass_*", "*_permanently", "*_without_backup", "*_production",
	} {
		if match, err := path.Match(pattern, o.Name); err == nil && match {
			danger = max(danger, destructive)
		}
	}
	return danger
}

// safetyLoop lists the operations of the safety loop, which are never called: what they start concerns more than the
// server.
var safetyLoop = []string{
	"execute_agent", "record_execution_step", "complete_execution", "abort_execution", "confirm_operation",
	"verify_challenge",
}

// exclusion returns why an operation must not be called; empty: it may be.
func (p *prober) exclusion(o *operation) string {
	switch {
	case slices.Contains(safetyLoop, o.Name):
		return "operation " + o.Name + " belongs to the safety loop"
	case o.danger >= destructive && !p.options.AllowDestructive:
		return "operation " + o.Name + " is " + dangerLevels[o.danger] + ", and that is not allowed"
	case o.Category != "READ" && p.options.ReadOnly:
		return "operation " + o.Name + " writes, and only reading is allowed"
	}
	return ""
}

// callable returns the operations that may be called, with destructive ones last.
func (p *prober) callable() []*operation {
	all := slices.DeleteFunc(slices.Clone(p.operations), func(o *operation) bool { return p.exclusion(o) != "" })
	slices.SortStableFunc(all,
		func(a, b *operation) int { return cmp.Compare(max(a.danger, reversible), max(b.danger, reversible)) })
	return all
}

// eachCallable calls look with every operation that may be called, and its baseline. It records why it leaves out the
// others.
func (p *prober) eachCallable(rec *recorder, look func(o *operation, b *baseline)) {
	for _, o := range p.operations {
		if why := p.exclusion(o); why != "" {
			rec.skip("%s", why)
		}
	}
	for _, o := range p.callable() {
		b := p.baseline(o)
		if b.params == nil {
			rec.skip("no sound request to operation %s is known", o.Name)
			continue
		}
		look(o, b)
	}
}

// verbNoun splits an operation's name into its first word and the rest.
func verbNoun(name string) (verb, noun string) {
	verb, noun, _ = strings.Cut(name, "_")
	return verb, noun
}
