package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// classification is the category that a function's name and signature suggest.
type classification struct {
	category gen.Category
	checks   []string // why the category may be wrong
}

// classify suggests a category: by the verb of the name, by a second verb as in GetOrCreate, or by the signature.
func (d *draft) classify() classification {
	verb, rest := verbOf(naming.SnakeCase(d.fn.Func.Name()))
	category, check, known := usualCategory(verb)
	var out classification
	switch {
	case known:
		out.category = category
		if check != "" {
			out.checks = append(out.checks, check)
		}
	case d.reads():
		out.category = gen.Read
		out.checks = append(out.checks,
			fmt.Sprintf("%q is no verb that tells a category; READ because it takes plain values and returns data", verb))
	default:
		out.category = gen.Execute
		out.checks = append(out.checks,
			fmt.Sprintf("%q is no verb that tells a category; EXECUTE because it may do anything", verb))
	}
	for i, word := range rest {
		if word != "or" && word != "and" || i+1 == len(rest) {
			continue
		}
		if second, _, ok := usualCategory(rest[i+1]); ok && second != out.category {
			if weight(second) > weight(out.category) {
				out.category = second
			}
			out.checks = append(out.checks, "its name says that it does two things")
		}
	}
	if out.category == gen.Delete && len(d.identifiers(out.category)) == 0 {
		out.checks = append(out.checks, "nothing says which one is deleted, so it may delete many")
	}
	return out
}

// verbOf returns the verb of an operation's name, after words that only tell how it is done, and the words behind it.
func verbOf(name string) (verb string, rest []string) {
	words := strings.Split(name, "_")
	for len(words) > 1 &&
		slices.Contains([]string{"bulk", "batch", "force", "try", "mass", "multi", "async", "admin", "do"}, words[0]) {
		words = words[1:]
	}
	return words[0], words[1:]
}

// usualCategory is naming.VerbCategory with more verbs. check is what a person should check about the verb.
func usualCategory(verb string) (category gen.Category, check string, known bool) {
	if _, category, known := naming.VerbCategory(verb); known {
		return category, "", true
	}
	switch verb {
	case "fetch", "load", "read", "lookup", "query", "show", "describe", "view", "check", "is", "has", "exists", "can",
		"download", "stat", "stats", "summarize", "compare", "diff", "preview", "browse", "inspect", "ping", "validate",
		"calculate", "compute", "estimate", "peek", "select", "retrieve", "whoami", "parse", "match", "decode", "encode",
		"render", "convert":
		return gen.Read, "", true
	case "new", "append", "post", "book", "invite", "clone", "copy", "duplicate", "fork", "record", "store", "issue",
		"generate":
		return gen.Create, "", true
	case "push", "open", "log":
		return gen.Create, fmt.Sprintf("%q may also be EXECUTE", verb), true
	case "change", "modify", "replace", "adjust", "configure", "revise", "reorder", "reassign", "relabel", "retitle":
		return gen.Update, "", true
	case "save", "put", "upsert", "write":
		return gen.Update, fmt.Sprintf("%q may also create", verb), true
	case "destroy", "erase", "wipe", "truncate", "discard", "prune", "evict", "expunge", "revoke", "uninstall",
		"forget", "del", "trash":
		return gen.Delete, "", true
	case "reset", "complete", "close", "reopen", "archive", "unarchive", "restore", "mark", "unmark", "toggle",
		"enable", "disable", "activate", "deactivate", "approve", "reject", "accept", "decline", "publish", "unpublish",
		"assign", "unassign", "retry", "pause", "refresh", "sync", "process", "apply", "submit", "install", "lock",
		"unlock", "finish", "abort", "restart", "reload", "schedule", "enqueue", "dispatch", "launch", "release", "rotate",
		"migrate", "rebuild", "reindex", "login", "logout", "join", "leave", "subscribe", "unsubscribe", "follow",
		"unfollow", "undo", "redo", "swap", "do", "perform", "handle":
		return gen.Execute, "", true
	case "send", "notify", "email", "pay", "charge", "refund", "transfer", "withdraw", "deploy", "kill", "terminate":
		return gen.Execute, "what it does cannot be taken back: is danger=destructive right?", true
	}
	return "", "", false
}

// weight orders categories by the cost of a wrong one.
func weight(category gen.Category) int {
	return slices.Index([]gen.Category{gen.Read, gen.Execute, gen.Create, gen.Update, gen.Delete}, category)
}

// reads reports whether a signature looks like a question: it takes single values and returns data.
func (d *draft) reads() bool {
	return d.trial.Result != nil &&
		!slices.ContainsFunc(d.trial.Request.Fields, func(f shapes.Field) bool { return !isScalar(f.Shape) })
}

// isScalar reports whether a parameter is a single text or number.
func isScalar(shape *shapes.Shape) bool {
	switch shapes.Indirect(shape).Kind {
	case shapes.String, shapes.Int, shapes.Uint, shapes.Text, shapes.Bool, shapes.Float, shapes.Time:
		return true
	}
	return false
}

// danger is the level of the operation: the highest that the names of the operation and the function stand for, and
// dangerous for a deletion that does not name what it deletes.
func (d *draft) danger(category gen.Category, identifiers []string) gen.Danger {
	level, _ := naming.InferDanger(d.name, category)
	if other, _ := naming.InferDanger(naming.SnakeCase(d.fn.Func.Name()), category); other.Level() > level.Level() {
		level = other
	}
	many := len(identifiers) == 0 || slices.ContainsFunc(strings.Split(d.name, "_"), func(word string) bool {
		return slices.Contains([]string{"all", "every", "everything", "bulk", "batch", "many", "mass"}, word)
	})
	if category == gen.Delete && many && level.Level() < gen.Dangerous.Level() {
		level = gen.Dangerous
	}
	return level
}

// directives returns the comment lines that make the operation, and sets the candidate's danger.
func (d *draft) directives(c *Candidate) []string {
	c.Danger = d.danger(c.Category, c.Identifiers)
	items := "category=" + string(c.Category) + ",danger=" + string(c.Danger)
	if d.name != naming.SnakeCase(d.fn.Func.Name()) {
		items = "op=" + d.name + "," + items
	}
	if c.Category != gen.Update || slices.Contains(c.Params, "input") {
		return d.asText([]string{"//aql:op " + items})
	}
	lines := []string{}
	if body := d.body(c.Identifiers); body != "" {
		lines = append(lines, "//aql:param "+body+" name=input")
	} else if ids := leaveOne(c.Identifiers, len(c.Params)); len(ids) > 0 {
		items += ",ids=" + strings.Join(ids, "|")
		for _, argument := range d.trial.Arguments {
			// A Go function gets all of its arguments, so an argument that an update leaves out would be emptied.
			i := slices.IndexFunc(d.trial.Request.Fields, func(f shapes.Field) bool { return f.Param.Go == argument.Field })
			field := d.trial.Request.Fields[i]
			if !slices.Contains(ids, field.Param.Name) && !shapes.IsNilable(field.Shape) {
				lines = append(lines, "//aql:param "+field.Param.Name+" required")
			}
		}
	}
	return d.asText(slices.Insert(lines, 0, "//aql:op "+items))
}

// asText adds that identifiers of 64 bits travel as text, which no client rounds.
func (d *draft) asText(lines []string) []string {
	for i := range d.trial.Request.Fields {
		field := &d.trial.Request.Fields[i]
		if !field.IsWideIdentifier() {
			continue
		}
		line := "//aql:param " + field.Param.Name + " "
		if at := slices.IndexFunc(lines, func(other string) bool { return strings.HasPrefix(other, line) }); at >= 0 {
			lines[at] += ",string"
		} else {
			lines = append(lines, line+"string")
		}
	}
	return lines
}

// body is the only parameter of an update besides its identifiers, if it is an object. It is the input.
func (d *draft) body(identifiers []string) string {
	body := ""
	for _, field := range d.trial.Request.Fields {
		if slices.Contains(identifiers, field.Param.Name) {
			continue
		}
		kind := shapes.Indirect(field.Shape).Kind
		if body != "" || kind != shapes.Struct && kind != shapes.Patch {
			return ""
		}
		body = field.Param.Name
	}
	return body
}

// leaveOne returns the first identifiers, so that an update has something left to change.
func leaveOne(identifiers []string, params int) []string {
	return identifiers[:max(0, min(len(identifiers), params-1))]
}
