package propose

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Judgment is the category and the danger level that a function is taken for: by its name, its results, its comment
// and, where there is one, its body. On doubt it is the higher level.
type Judgment struct {
	Category gen.Category
	Danger   gen.Danger
	Guessed  bool     // a person has to decide
	Reasons  []string // what a person should know who decides
}

// Judged is a function with what it is taken for.
type Judged struct {
	Function string // "List" or "Store.List"
	Func     *types.Func
	Decl     *ast.FuncDecl
	Judgment
}

// JudgeAll judges the functions of a package that could be operations if all types could be carried: exported ones that
// return an error or take a context.
func JudgeAll(x *scan.Exploration, root *packages.Package) []Judged {
	bodies := readBodies(x, root)
	var all []Judged
	for _, fn := range x.Functions(root) {
		receiver := receiverType(fn.Func)
		if !fn.Func.Exported() || receiver != nil && !receiver.Obj().Exported() || constructor(fn.Func) != "" ||
			isWellKnown(fn.Func.Name(), fn.Func.Signature()) {
			continue
		}
		if signature := fn.Func.Signature(); !returnsError(signature) && !takesContext(signature) {
			continue
		}
		all = append(all, Judged{functionName(fn.Func), fn.Func, fn.Decl, bodies.Judge(fn.Func, fn.Decl)})
	}
	return all
}

func returnsError(signature *types.Signature) bool {
	results := signature.Results()
	return results.Len() > 0 && types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

func takesContext(signature *types.Signature) bool {
	return signature.Params().Len() > 0 && gotype.Is(signature.Params().At(0).Type(), "context", "Context")
}

// Judge judges a function. READ has a result, and a verb that reads or a body that does nothing else (MCP-AQL core
// §8.1). What is not known is EXECUTE and destructive. decl is its declaration, and may have no body.
func (b *Bodies) Judge(fn *types.Func, decl *ast.FuncDecl) Judgment {
	name := naming.SnakeCase(fn.Name())
	table := knownWords()
	first, known, rest := table.leading(name)
	j := Judgment{Category: first.category, Danger: first.danger}
	switch {
	case !known:
		j = b.judgeUnknown(fn, decl, first.name, rest)
	case first.category == gen.Read:
		j = b.judgeReading(fn, decl, first, rest)
	default:
		if first.likely {
			j.doubt(fmt.Sprintf("%q %s", first.name, first.why))
		} else if first.why != "" && first.category == gen.Execute {
			j.Reasons = append(j.Reasons, fmt.Sprintf("%q: %s; is danger=%s right?", first.name, first.why, first.danger))
		}
	}
	j.second(table, rest)
	j.modify(table, name)
	j.object(table, fn, rest)
	if j.Danger.Level() < gen.Destructive.Level() && j.Category != gen.Read && saysFinal(decl) {
		j.Danger = gen.Destructive
		j.Reasons = append(j.Reasons, "its comment says that it cannot be undone")
	}
	return j
}

// unknown is what is taken of a function that nothing is known of.
func unknown(reason string) Judgment {
	j := Judgment{Category: gen.Execute, Danger: gen.Destructive}
	j.doubt(reason)
	return j
}

func (j *Judgment) doubt(reason string) {
	j.Guessed = true
	j.Reasons = append(j.Reasons, reason)
}

// judgeUnknown judges a function whose name does not begin with a verb of the table.
func (b *Bodies) judgeUnknown(fn *types.Func, decl *ast.FuncDecl, word string, rest []string) Judgment {
	if proof := b.provesReading(fn); proof != "" && hasResult(fn) {
		return Judgment{
			Category: gen.Read, Danger: gen.Safe,
			Reasons: []string{fmt.Sprintf("%q is no verb that init knows; READ because %s", word, proof)},
		}
	}
	j := unknown(fmt.Sprintf("%q is no verb that init knows, so it may do anything", word))
	if len(rest) == 0 {
		return j
	}
	last, ok := knownWords().verbs[rest[len(rest)-1]]
	switch {
	case !ok || last.likely:
	case b.isNoun(receiverName(fn), word) && last.category != gen.Read:
		return Judgment{Category: last.category, Danger: last.danger}
	case b.isNoun(receiverName(fn), word) && hasResult(fn) && asks(last.name):
		return b.judgeReading(fn, decl, last, nil)
	case last.category != gen.Read:
		j.Category = last.category
		j.raise(last.danger)
	}
	return j
}

// asks reports whether a verb behind its object asks: ImageList. Of other verbs that read, what stands in front may be
// the verb.
func asks(verb string) bool {
	return slices.Contains([]string{"list", "get", "inspect", "describe", "find", "search", "lookup", "exists"}, verb)
}

// judgeReading judges a function whose name begins with a verb that reads.
func (b *Bodies) judgeReading(fn *types.Func, decl *ast.FuncDecl, first verb, rest []string) Judgment {
	proof := b.provesReading(fn)
	switch {
	case !hasResult(fn) && proof != "":
		return Judgment{
			Category: gen.Execute, Danger: gen.Reversible,
			Reasons: []string{fmt.Sprintf("%q reads, but it returns nothing", first.name)},
		}
	case !hasResult(fn):
		return unknown(fmt.Sprintf("%q reads, but it returns nothing", first.name))
	case proof != "" && first.likely:
		return Judgment{
			Category: gen.Read, Danger: gen.Safe, Reasons: []string{fmt.Sprintf("%q %s; READ because %s", first.name,
				first.why, proof)},
		}
	case first.likely:
		return unknown(fmt.Sprintf("%q %s", first.name, first.why))
	case takesSecret(fn):
		return unknown(fmt.Sprintf("%q reads, but it takes a secret, and may spend it", first.name))
	}
	if writes := b.writes(fn); writes != "" {
		return unknown(fmt.Sprintf("%q reads, but its body %s", first.name, writes))
	}
	if says := documentedVerb(fn.Name(), decl); says.category != "" && says.category != gen.Read {
		return unknown(fmt.Sprintf("%q reads, but its comment says %q", first.name, says.name))
	}
	if word := hiddenVerb(first, rest); word.name != "" {
		j := unknown(fmt.Sprintf("%q reads, but %q may not", first.name, word.name))
		if word.category != gen.Update || len(rest) == 1 {
			j.Category = word.category
		}
		j.raise(word.danger)
		return j
	}
	return Judgment{Category: gen.Read, Danger: gen.Safe}
}

// hiddenVerb finds a verb that changes something behind one that reads: the last word of GetDel, and any word behind a
// verb that may be a noun, as in SearchIndexDelete.
func hiddenVerb(first verb, rest []string) verb {
	table := knownWords()
	for i, word := range rest {
		if i < len(rest)-1 && !table.is("noun", first.name) {
			continue
		}
		// GetSet sets, and ListMerge may merge: a list of merges would be ListMerges.
		noun := table.is("noun", word) && (i > 0 || word != "set") &&
			(i < len(rest)-1 || !table.is("noun", first.name))
		if v, ok := table.verbs[word]; ok && v.category != gen.Read && !noun {
			return v
		}
	}
	return verb{}
}

// takesSecret reports whether a parameter of a function is called a secret.
func takesSecret(fn *types.Func) bool {
	for v := range fn.Signature().Params().Variables() {
		if knownWords().is("secret", lastWord(strings.Split(naming.SnakeCase(v.Name()), "_"))) {
			return true
		}
	}
	return false
}

// object raises the level of what makes something final, or replaces a secret. The object of a name that is only a verb
// is that of the receiver or the package: Charges.New.
func (j *Judgment) object(table vocabulary, fn *types.Func, rest []string) {
	rest = slices.Clone(rest)
	if len(rest) > 0 && rest[len(rest)-1] == "context" { // a variant with a context
		rest = rest[:len(rest)-1]
	}
	if len(rest) == 0 {
		rest = serviceWords(receiverName(fn))
	}
	if len(rest) == 0 && fn.Pkg() != nil {
		rest = serviceWords(fn.Pkg().Name())
	}
	thing := singular(lastWord(rest))
	switch {
	case j.Danger != gen.Reversible:
	case table.is("final", thing) && (j.Category == gen.Create || j.Category == gen.Execute):
		j.Danger = gen.Destructive
		j.Reasons = append(j.Reasons, fmt.Sprintf("%q cannot be taken back; is danger=%s right?", thing, j.Danger))
	case table.is("secret", thing) && j.Category == gen.Update:
		j.Danger = gen.Destructive
		j.Reasons = append(j.Reasons, fmt.Sprintf("the old %s is lost; is danger=%s right?", thing, j.Danger))
	}
}

// second counts the verb behind "or", "and" and "then": GetOrCreate.
func (j *Judgment) second(table vocabulary, rest []string) {
	for i, word := range rest {
		if word != "or" && word != "and" && word != "then" || i+1 == len(rest) {
			continue
		}
		other, known, _ := table.leading(strings.Join(rest[i+1:], "_"))
		switch {
		case known && other.category != j.Category:
			if weight(other.category) > weight(j.Category) {
				j.Category = other.category
			}
			j.raise(other.danger)
			j.Reasons = append(j.Reasons, "its name says that it does two things")
			j.Guessed = j.Guessed || other.likely
		case !known && j.Category == gen.Read && (i == 0 || singular(other.name) == other.name): // GetUserAndPosts reads
			*j = unknown(fmt.Sprintf("its name says that it does two things, and %q is no verb that init knows", other.name))
		}
	}
}

// modify raises the level by the words of a name that say how much of it there is, or that nothing stops it.
func (j *Judgment) modify(table vocabulary, name string) {
	list := strings.Split(name, "_")
	for i, word := range list {
		switch {
		case table.is("force", word) && (i == 0 || j.Category == gen.Delete || j.Category == gen.Execute):
			if j.Category == gen.Read {
				*j = unknown(fmt.Sprintf("it reads, but %q does not", word))
			}
			j.raise(gen.Dangerous)
		case table.is("many", word) && j.Category != gen.Read && (i == 0 || i == len(list)-1 || word == list[1]):
			switch j.Danger {
			case gen.Reversible:
				j.raise(gen.Destructive)
			default:
				j.raise(gen.Dangerous)
			}
			return
		}
	}
}

func (j *Judgment) raise(level gen.Danger) {
	if level.Level() > j.Danger.Level() {
		j.Danger = level
	}
}

// weight orders categories by the cost of a wrong one.
func weight(category gen.Category) int {
	return slices.Index([]gen.Category{gen.Read, gen.Execute, gen.Create, gen.Update, gen.Delete}, category)
}

// hasResult reports whether a function returns something beside an error.
func hasResult(fn *types.Func) bool {
	failure := types.Universe.Lookup("error").Type()
	for v := range fn.Signature().Results().Variables() {
		if !types.Identical(v.Type(), failure) {
			return true
		}
	}
	return false
}

// saysFinal reports whether the comment of a function says that what it does is final.
func saysFinal(decl *ast.FuncDecl) bool {
	if decl == nil || decl.Doc == nil {
		return false
	}
	text := strings.ToLower(decl.Doc.Text())
	return slices.ContainsFunc([]string{
		"cannot be undone", "can't be undone", "can not be undone", "irreversibl", "irrevocabl", "permanently",
		"cannot be reversed",
		"not reversible", "cannot be restored", "cannot be recovered", "unrecoverabl", "cannot be reverted",
	}, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// documentedVerb is the verb of "GetItem deletes …", if the table has it and it tells something: returns, calls and
// sends do not.
func documentedVerb(name string, decl *ast.FuncDecl) verb {
	if decl == nil || decl.Doc == nil {
		return verb{}
	}
	fields := strings.Fields(decl.Doc.Text())
	if len(fields) < 2 || fields[0] != name {
		return verb{}
	}
	said := strings.ToLower(strings.Trim(fields[1], ".,;:"))
	table := knownWords()
	for _, ending := range []string{"s", "es", "ies"} {
		stem, ok := strings.CutSuffix(said, ending)
		if ending == "ies" {
			stem += "y"
		}
		if v, known := table.verbs[stem]; ok && known {
			switch stem {
			case "send", "make", "do", "run", "execute", "perform", "invoke", "use", "handle", "initialize", "issue", "build",
				"generate", "open", "connect", "include", "follow", "process", "accept", "delegate":
				return verb{}
			}
			return v
		}
	}
	return verb{}
}

// firstWord is the first word of a Go name, in small letters.
func firstWord(name string) string {
	word, _, _ := strings.Cut(naming.SnakeCase(name), "_")
	return word
}
