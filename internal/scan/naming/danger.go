package naming

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// namePattern classifies operations by name: a * on either side stands for any text.
type namePattern struct {
	glob  string
	level gen.Danger
}

// namePatterns lists the patterns of MCP-AQL danger levels §5.1 and §6 that raise a level (REQ-DL-08, T-53). The safe
// ones (get_*, list_*, …) count for READ alone, which is safe anyway (T-52).
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
	// Only what follows force_ says what is forced: force_delete_all is forbidden (REQ-DL-09).
	forced, ok := strings.CutPrefix(name, "force_")
	return ok && strings.HasPrefix(forced, prefix)
}

// CategoryDanger is the danger level of an operation whose author named none (REQ-DL-02).
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

// InferDanger classifies an operation by name and category. The highest pattern wins (REQ-DL-09) and none
// lowers a level (T-52). pattern is the one that decided, empty if the category did.
func InferDanger(name string, category gen.Category) (level gen.Danger, pattern string) {
	level = CategoryDanger(category)
	for _, p := range namePatterns() {
		if p.matches(name) && p.level.Level() > level.Level() {
			level, pattern = p.level, p.glob
		}
	}
	return level, pattern
}

// VerbCategory is the category that the verb of an operation name stands for (REQ-NM-03, REQ-NM-04).
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

// IsReserved reports whether the protocol keeps an operation name for itself (REQ-NM-06).
func IsReserved(name string) bool {
	switch name {
	case "introspect", "execute_agent", "record_execution_step", "complete_execution", "abort_execution",
		"confirm_operation", "verify_challenge":
		return true
	}
	return false
}
