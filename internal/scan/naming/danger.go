package naming

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// namePattern gives operations a danger level by their names. A * at one end of glob matches any text.
type namePattern struct {
	glob  string
	level gen.Danger
}

// namePatterns lists the patterns of MCP-AQL danger levels §5.1 and §6 that raise a level. The safe ones (get_*,
// list_*, …) are left out: READ is safe anyway, and a pattern never lowers a level.
func namePatterns() []namePattern {
	return []namePattern{
		{"force_*", gen.Dangerous}, {"*_permanently", gen.Dangerous}, {"bulk_delete*", gen.Dangerous},
		{"override_*", gen.Dangerous}, {"bypass_*", gen.Dangerous}, {"*_without_backup", gen.Dangerous},
		{"purge_*", gen.Dangerous},
		{"drop_*", gen.Forbidden}, {"delete_all*", gen.Forbidden}, {"truncate_*", gen.Forbidden},
		{"reset_*", gen.Forbidden}, {"destroy_*", gen.Forbidden}, {"wipe_*", gen.Forbidden},
		{"*_production", gen.Forbidden},
	}
}

func (p namePattern) matches(name string) bool {
	if suffix, ok := strings.CutPrefix(p.glob, "*"); ok {
		return strings.HasSuffix(name, suffix)
	}
	prefix := strings.TrimSuffix(p.glob, "*")
	if strings.HasPrefix(name, prefix) {
		return true
	}
	// What follows force_ tells what is forced: force_delete_all is forbidden.
	forced, ok := strings.CutPrefix(name, "force_")
	return ok && strings.HasPrefix(forced, prefix)
}

// CategoryDanger returns the danger level of a category (MCP-AQL danger levels §3.3).
func CategoryDanger(c gen.Category) gen.Danger {
	switch c {
	case gen.Read:
		return gen.Safe
	case gen.Delete:
		return gen.Destructive
	default:
		return gen.Reversible
	}
}

// InferDanger returns the danger level of an operation by its name and category: the highest of those that match
// (MCP-AQL danger levels §5.1). pattern is the one that raised the level, empty if the category decided.
func InferDanger(name string, category gen.Category) (level gen.Danger, pattern string) {
	level = CategoryDanger(category)
	for _, p := range namePatterns() {
		if p.matches(name) && p.level.Level() > level.Level() {
			level, pattern = p.level, p.glob
		}
	}
	return level, pattern
}

// VerbCategory returns the category that the verb of an operation's name stands for (MCP-AQL core §8.5.1).
func VerbCategory(name string) (verb string, category gen.Category, known bool) {
	verb, _, _ = strings.Cut(name, "_")
	switch verb {
	case "create", "add", "upload", "register", "import", "insert":
		return verb, gen.Create, true
	case "get", "list", "search", "find", "export", "count":
		return verb, gen.Read, true
	case "update", "edit", "set", "rename", "move", "patch", "merge":
		return verb, gen.Update, true
	case "delete", "remove", "purge", "unregister", "clear", "drop":
		return verb, gen.Delete, true
	case "execute", "cancel", "run", "start", "stop", "resume", "trigger", "invoke":
		return verb, gen.Execute, true
	}
	return verb, "", false
}

// IsReserved reports whether the protocol reserves the name of an operation (MCP-AQL core §8.5.4).
func IsReserved(name string) bool {
	switch name {
	case "introspect", "execute_agent", "record_execution_step", "complete_execution", "abort_execution",
		"confirm_operation", "verify_challenge":
		return true
	}
	return false
}
