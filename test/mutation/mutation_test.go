package mutation_test

import (
	"errors"
	"go/types"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// verdict says what noticed a mutant.
type verdict struct {
	build      bool // the compiler, in the generated file
	own        bool // the compiler, in a file of the service
	diagnostic bool // an error diagnostic
	stale      bool // `aql-tag check`: other code would be generated
}

func (v verdict) caught() bool { return v.build || v.diagnostic || v.stale }

// harmless is a kind of mutants that need not be noticed, and the reason: the generated code reads every request, and
// writes every response, in the same way.
type harmless struct {
	reason string
	holds  func(s *service, m mutant) bool
}

var harmlessMutants = []harmless{
	{"an operation is described by its handler, and an embedded struct is not described", func(s *service, m mutant) bool {
		return strings.Contains(m.what, " the comment of type ") &&
			(s.isRequest(m.subject.owner) || s.isEmbedded(m.subject.owner))
	}},
	{"without the json tag the field has the same name", func(s *service, m mutant) bool {
		switch {
		case m.subject.field == nil || m.subject.name != snakeCase(m.subject.field.Name()):
			return false
		case strings.HasPrefix(m.what, "take the name from the json tag"):
			return true
		case strings.HasPrefix(m.what, "delete the tag") && m.subject.aql,
			m.subject.options != "" && s.shown[m.subject.owner]:
			return false
		}
		return strings.HasPrefix(m.what, "delete the tag") || strings.HasPrefix(m.what, "delete the json tag") ||
			strings.HasPrefix(m.what, "misspell the key of the json tag")
	}},
	{"encoding/json's omitempty has no effect on a struct", func(_ *service, m mutant) bool {
		if !strings.HasPrefix(m.what, "add omitempty to the json tag") || m.subject.field == nil {
			return false
		}
		_, isStruct := m.subject.field.Type().Underlying().(*types.Struct)
		return isStruct
	}},
	{"_etag is read-only without its tag", func(_ *service, m mutant) bool {
		return m.subject.name == "_etag" && slices.Contains([]string{
			"delete the aql tag of Todo.ETag", "misspell the key of the aql tag of Todo.ETag",
			"delete readonly in the aql tag of Todo.ETag",
		}, m.what)
	}},
}

// unguarded lists the changes to declarations that `aql-tag check` alone notices, and why: fields are found by their
// names, so that these mix up nothing.
var unguarded = map[string]*regexp.Regexp{
	"two fields of one type in another order": regexp.MustCompile(`^swap \S+ with the field before it$`),
	"the constants of the type are strings":   regexp.MustCompile(`^make type \S+ an int$`),
	"the blank field has a name":              regexp.MustCompile(`^name the blank field of `),
}

var (
	wordStart = regexp.MustCompile(`([a-z])([A-Z])`)
)

func snakeCase(name string) string {
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}_$2"))
}

// TestEveryMutationOfTheTodoServiceIsCaught changes a handler, a field, a tag, a constant or a comment of the todo
// service. Each change is noticed before an agent reads something that the handlers do not do: the generated code no
// longer compiles, or `aql-tag check` reports a mistake or a stale file. Changes of declarations break the build,
// without any tool.
func TestEveryMutationOfTheTodoServiceIsCaught(t *testing.T) {
	s := readService(t)
	mutants := breed(s)
	verdicts := s.compileAll(t, mutants)
	var compiling []int
	for i, v := range verdicts {
		if !v.build {
			compiling = append(compiling, i)
		}
	}
	s.checkAll(t, mutants, compiling, verdicts)

	counts := map[string]int{}
	alone := maps.Clone(unguarded)
	for i, m := range mutants {
		v := verdicts[i]
		switch {
		case v.build:
			counts["break the build"]++
		case v.diagnostic:
			counts["are reported as mistakes"]++
		case v.stale:
			counts["make the generated file stale"]++
		}
		if m.structural && v.caught() && !v.build {
			known := false
			for reason, changes := range unguarded {
				if changes.MatchString(m.what) {
					known = true
					delete(alone, reason)
				}
			}
			if !known {
				t.Errorf("%s: the generated code compiles all the same; only aql-tag notices", m)
			}
		}
		if v.caught() {
			continue
		}
		excused := slices.IndexFunc(harmlessMutants, func(h harmless) bool { return h.holds(s, m) })
		if excused < 0 {
			t.Errorf("%s: nothing notices", m)
			continue
		}
		counts["are harmless: "+harmlessMutants[excused].reason]++
	}
	for _, h := range harmlessMutants {
		if counts["are harmless: "+h.reason] == 0 {
			t.Errorf("no mutant needs this excuse any more, remove it: %s", h.reason)
		}
	}
	for what := range alone {
		t.Errorf("the build breaks, remove this from the unguarded changes: %s", what)
	}
	t.Logf("of %d mutants", len(mutants))
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%5d %s", counts[what], what)
	}
}

// Verdicts are computed in this process. For a mutant of every kind, go build and aql-tag check say the same.
func TestVerdictsAgreeWithTheCommands(t *testing.T) {
	s := readService(t)
	mutants := breed(s)
	command := filepath.Join(t.TempDir(), "aql-tag")
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("go", "build", "-o", command, "./cmd/aql-tag")
	compile.Dir = root
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("building the command: %v\n%s", err, out)
	}
	for _, what := range []string{
		"rename handler DeleteTodo",
		"change the type of PurgeResult.Purged to int64",
		"write maxlen=201 for maxlen=200 in the aql tag of CreateTodoRequest.Title",
		"misspell category=READ in the aql tag of GetTodoRequest._",
		"take omitempty from the json tag of CreateTodoRequest.Tags",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(mutants, func(m mutant) bool { return m.what == what })
			if i < 0 {
				t.Fatal("there is no such mutant")
			}
			verdicts := s.compileAll(t, mutants[i:i+1])
			s.checkAll(t, mutants[i:i+1], []int{0}, verdicts)
			v := verdicts[0]

			dir := moduleWithRuntime(t, "example.com/mutant")
			s.writePackage(t, filepath.Join(dir, "todo"), mutants[i])
			build := exec.Command("go", "build", "./todo")
			build.Dir, build.Env = dir, scratch.Env()
			out, err := build.CombinedOutput()
			if got, want := exitCode(t, err) != 0, v.build || v.own; got != want {
				t.Errorf("go build fails: %v, the verdict says %v\n%s", got, want, out)
			}
			if v.build && !strings.Contains(string(out), generatedName) {
				t.Errorf("go build does not point at the generated file:\n%s", out)
			}
			want := 0
			if v.diagnostic {
				want = 2
			} else if v.stale {
				want = 6
			}
			check := exec.Command(command, "check", "./todo")
			check.Dir, check.Env = dir, scratch.Env()
			if out, err = check.CombinedOutput(); exitCode(t, err) != want {
				t.Errorf("aql-tag check: %v, the verdict says exit code %d\n%s", err, want, out)
			}
		})
	}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		t.Fatalf("running the command: %v", err)
	}
	return exit.ExitCode()
}

// isRequest reports whether a type is the request of an operation.
func (s *service) isRequest(object types.Object) bool {
	st, ok := object.Type().Underlying().(*types.Struct)
	return fieldsOf(st, ok) > 0 && st.Field(0).Name() == "_"
}

// isEmbedded reports whether structs embed a type, which then has no name of its own on the wire.
func (s *service) isEmbedded(object types.Object) bool {
	for _, defined := range s.info.Defs {
		if field, ok := defined.(*types.Var); ok && field.Embedded() && types.Identical(field.Type(), object.Type()) {
			return true
		}
	}
	return false
}
