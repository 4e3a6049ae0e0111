package conform

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
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
	level := worseDanger(dangerIn(map[string]any{"danger": declared[o.Name]}), o.dangerSaid)
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
	if o.destructive && (o.Category == "READ" || o.Category == "CREATE") {
		danger = destructive
	}
	for _, pattern := range []string{
		"delete*", "remove_*", "purge*", "drop_*", "destroy_*", "wipe_*", "truncate_*", "erase_*", "clear_*", "reset_*",
		"unregister_*", "force_*", "bulk_*", "override_*", "bypass_*", "*_permanently", "*_without_backup", "*_production",
	} {
		if match, err := path.Match(pattern, snake(o.Name)); err == nil && match {
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
	case slices.Contains(safetyLoop, snake(o.Name)):
		return "operation " + o.Name + " belongs to the safety loop"
	case o.Category == "" && o.danger >= destructive && !p.options.AllowDestructive:
		return "operation " + o.Name + " may be destructive, because its category is not known, and that is not allowed"
	case o.danger >= destructive && !p.options.AllowDestructive:
		return "operation " + o.Name + " is " + dangerLevels[o.danger] + ", and that is not allowed"
	case o.Category != "READ" && p.options.ReadOnly:
		return "operation " + o.Name + " is not known to be READ, and only reading is allowed"
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
	p.eachCallableWith(rec, everyOperation, look)
}

// eachCallableWith is eachCallable for the operations to which a check applies.
func (p *prober) eachCallableWith(
	rec *recorder, applies func(o *operation) bool, look func(o *operation, b *baseline),
) {
	for _, o := range p.operations {
		if why := p.exclusion(o); why != "" && applies(o) {
			rec.skip("%s", why)
		}
	}
	for _, o := range p.callable() {
		if !applies(o) {
			continue
		}
		b := p.baseline(o)
		if b.params == nil {
			rec.unjudged("%s", noRequest(o, b))
			continue
		}
		look(o, b)
	}
	for _, name := range p.unread {
		rec.unjudged("the details of operation %s cannot be read", name)
	}
	if len(p.details) == 0 {
		rec.skip("no operation is listed")
	}
}

// noRequest says that no request to an operation is known to be valid.
func noRequest(o *operation, b *baseline) string {
	switch x := b.exchange; {
	case x == nil:
		return "introspection does not say enough to make a request to operation " + o.Name
	case x.unreadable():
		return "the answer of operation " + o.Name + " can be read neither as success nor as failure"
	default:
		return "no request to operation " + o.Name + " is known to be valid: the last one fails" + because(x)
	}
}

// verbNoun splits an operation's name into its first word and the rest, in snake_case.
func verbNoun(name string) (verb, noun string) {
	verb, noun, _ = strings.Cut(snake(name), "_")
	return verb, noun
}

// snake returns a name in snake_case.
func snake(name string) string {
	var s strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !strings.HasSuffix(s.String(), "_") {
			s.WriteByte('_')
		}
		if r == '-' || r == '.' {
			r = '_'
		}
		s.WriteRune(unicode.ToLower(r))
	}
	return s.String()
}

// dangerIn returns the danger level that an entry or details tell; empty: none.
func dangerIn(object map[string]any) string {
	level := ""
	for _, name := range []string{"danger_level", "dangerLevel", "danger"} {
		text, _ := object[name].(string)
		if inner, ok := object[name].(map[string]any); ok {
			text = textMember(inner, "level")
		}
		level = worseDanger(level, strings.ToLower(text))
	}
	return level
}

// worseDanger returns the higher of two danger levels.
func worseDanger(a, b string) string {
	if slices.Index(dangerLevels, b) > slices.Index(dangerLevels, a) {
		return b
	}
	return a
}
