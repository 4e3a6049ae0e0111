package house_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/aqltag/aqltag/runtime/toolhook"
)

// holdTable compares what a page has between two comments with what it should have, and writes it with -update.
func holdTable(t *testing.T, file, name, want string) {
	t.Helper()
	full := filepath.Join(repository(t), file)
	page, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := bytes.Cut(page, []byte("<!-- "+name+" -->\n\n"))
	documented, after, closed := bytes.Cut(rest, []byte("\n<!-- end of "+name+" -->"))
	if !opened || !closed {
		t.Fatalf("%s has no place for the table %s", file, name)
	}
	if *update {
		text := fmt.Sprintf("%s<!-- %s -->\n\n%s\n<!-- end of %s -->%s", before, name, want, name, after)
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(documented), want); diff != "" {
		t.Errorf("%s; go -C test test ./house -run %s -update rewrites it (-documented +in the code):\n%s",
			file, t.Name(), diff)
	}
}

// inTable escapes what a table of Markdown would take for its own.
var inTable = strings.NewReplacer("|", "\\|", "<", "\\<", "*", "\\*")

// docs/commands.md has the flags of an adapter and of its subcommands, with what their help says.
func TestFlagsPage(t *testing.T) {
	set := flag.NewFlagSet("adapter", flag.ContinueOnError)
	serve.Flags(set)
	var usage strings.Builder
	set.SetOutput(&usage)
	set.Usage()
	environment := map[string]string{}
	variable := regexp.MustCompile(`(?m)^  (MCP_AQL_[A-Z_]+) +-(\S+)$`)
	for _, match := range variable.FindAllStringSubmatch(usage.String(), -1) {
		environment[match[2]] = "`" + match[1] + "`"
	}
	if len(environment) < 10 {
		t.Fatalf("the help names %d variables:\n%s", len(environment), &usage)
	}
	table := "| flag | environment | default | meaning |\n|---|---|---|---|\n"
	set.VisitAll(func(f *flag.Flag) {
		name, standard, help := inColumns(f)
		table += fmt.Sprintf("| %s | %s | %s | %s |\n", name, environment[f.Name], standard, help)
	})
	holdTable(t, "docs/commands.md", "adapter", table)

	commands, _, _ := strings.Cut(operator.Usage, "\n\n")
	holdTable(t, "docs/commands.md", "operator", "```text\n"+commands+"\n```\n\n"+flagsOf(new(operator.Flags)))
	holdTable(t, "docs/commands.md", "hook", flagsOf(new(toolhook.Flags)))
}

// flagsOf returns the table of the flags of a subcommand.
func flagsOf(subcommand interface{ Add(*flag.FlagSet) }) string {
	set := flag.NewFlagSet("subcommand", flag.ContinueOnError)
	subcommand.Add(set)
	table := "| flag | default | meaning |\n|---|---|---|\n"
	set.VisitAll(func(f *flag.Flag) {
		name, standard, help := inColumns(f)
		table += fmt.Sprintf("| %s | %s | %s |\n", name, standard, help)
	})
	return table
}

// inColumns returns what a table has of a flag: its name with that of its value, its default, and what it means.
func inColumns(f *flag.Flag) (name, standard, help string) {
	value, help := flag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "false" {
		standard = "`" + f.DefValue + "`"
	}
	return "`" + strings.TrimRight("-"+f.Name+" "+value, " ") + "`", standard, inTable.Replace(help)
}

// otherCodes says when codes are answered that no definition of an operation foretells.
var otherCodes = map[string]string{
	"BATCH_VALIDATION_ERROR": "A batch has no operations, too many, or something that is none.",
	"CONFLICT_INVALID_STATE": "The resource exists, and its state does not allow this.",
	"INTROSPECTION_ERROR":    "introspect was asked for something that it does not know.",
	"PERMISSION_DANGER_LEVEL_DENIED": "The operation is too dangerous for the trust level of the adapter; details name " +
		"the level that it takes.",
	"PERMISSION_TRUST_LEVEL_INSUFFICIENT": "The trust level of the adapter is too low for the operation; details name " +
		"the level that it takes.",
	"RATE_LIMIT_QUOTA_EXHAUSTED": "The quota is used up; details tell when it begins anew.",
	"RATE_LIMIT_QUOTA_PAUSE": "So much of the quota is used that a person decides; send the same request again, with " +
		"the token if the details have one.",
	"TOKEN_ALREADY_USED":   "The confirmation token was used; each is valid once.",
	"TOKEN_SCOPE_MISMATCH": "The confirmation token is for another request.",

	"DEPRECATION_WARNING": "The operation or a parameter should no longer be used; details tell what " +
		"to use.",
	"PERFORMANCE_LARGE_RESPONSE_WARNING": "The answer is nearly as large as answers may be; details tell what makes " +
		"it smaller.",
	"PERFORMANCE_SLOW_QUERY_WARNING":   "The operation took longer than it should; details tell how long.",
	"PERMISSION_DENIED_WARNING":        "A relation leaves out what the caller may not read.",
	"RATE_LIMIT_QUOTA_WARNING":         "The quota will be used up soon; details tell how much is left.",
	"VALIDATION_IGNORED_PARAM_WARNING": "The answer has summaries alone, for which parameters about items mean nothing.",
	"VALIDATION_TRUNCATED_WARNING":     "A list has fewer items than there are.",
	"VALIDATION_UNKNOWN_FIELD_WARNING": "fields names what the result does not have; it was left out.",
	"VALIDATION_UNKNOWN_PARAM_WARNING": "A parameter that the operation does not have was ignored; details suggest " +
		"what was meant.",
}

// docs/errors.md has every code that the runtime writes.
func TestErrorsPage(t *testing.T) {
	when := foretold(t)
	for code, sentence := range otherCodes {
		if when[code] != "" {
			t.Errorf("package describe says when %s is answered, too", code)
		}
		when[code] = sentence
	}
	// The records of package audit have words of the same form, and package notes has a warning of its own.
	written := writtenCodes(t, regexp.MustCompile(registered.String()+`|^[A-Z_]+_WARNING$`), "runtime/audit/",
		"runtime/internal/notes/")
	failures, warnings := "| code | when |\n|---|---|\n", "| code | when |\n|---|---|\n"
	for _, code := range slices.Sorted(maps.Keys(written)) {
		if when[code] == "" {
			t.Errorf("%s writes the code %s: say in otherCodes when", written[code], code)
		}
		row := fmt.Sprintf("| <a id=\"%s\"></a>`%s` | %s |\n", strings.ToLower(code), code, when[code])
		if strings.HasSuffix(code, "_WARNING") {
			warnings += row
		} else {
			failures += row
		}
	}
	for code := range when {
		if written[code] == "" {
			t.Errorf("nothing in runtime/ writes the code %s", code)
		}
	}
	holdTable(t, "docs/errors.md", "failures", failures)
	holdTable(t, "docs/errors.md", "warnings", warnings)
}

// foretold returns the codes of package describe, each with the sentence that agents read about it.
func foretold(t *testing.T) map[string]string {
	t.Helper()
	const file = "runtime/describe/failures.go"
	source := filepath.Join(repository(t), file)
	parsed, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	when := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok || len(literal.Elts) < 2 {
			return true
		}
		code, sentence := text(literal.Elts[len(literal.Elts)-2]), text(literal.Elts[len(literal.Elts)-1])
		if registered.MatchString(code) {
			when[code] = sentence
		}
		return true
	})
	if len(when) < 20 {
		t.Fatalf("%s tells of %d codes", file, len(when))
	}
	return when
}

// text is the value of a string literal, or "".
func text(expression ast.Expr) string {
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	value, _ := strconv.Unquote(literal.Value)
	return value
}

// docs/policy.md has the keys of policy files, with what the comments behind them say.
func TestPolicyPage(t *testing.T) {
	const file = "runtime/policy/policyfile/keys.go"
	fset := token.NewFileSet()
	source, err := parser.ParseFile(fset, filepath.Join(repository(t), file), nil,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[int]string{} // by their lines
	for _, group := range source.Comments {
		comments[fset.Position(group.Pos()).Line] = strings.TrimSpace(group.Text())
	}
	lists := 0
	for _, declaration := range source.Decls {
		list, ok := declaration.(*ast.GenDecl)
		if !ok || list.Tok != token.VAR {
			continue
		}
		lists++
		spec := list.Specs[0].(*ast.ValueSpec)
		table := "| key | meaning |\n|---|---|\n"
		for _, element := range spec.Values[0].(*ast.CompositeLit).Elts {
			meaning := comments[fset.Position(element.Pos()).Line]
			if meaning == "" {
				t.Errorf("%s does not say what the key %s means", file, text(element))
			}
			table += fmt.Sprintf("| `%s` | %s |\n", text(element), meaning)
		}
		holdTable(t, "docs/policy.md", spec.Names[0].Name, table)
	}
	if lists < 8 {
		t.Errorf("%s has %d lists", file, lists)
	}
	_, example, _ := strings.Cut(pages(t)["docs/policy.md"], "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if _, err := policyfile.Parse("docs/policy.md", []byte(example)); err != nil {
		t.Error(err)
	}
}
