package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console/setup"
)

// F63: the console of an adapter has pages of what the adapter has, and none of what it has not.
func TestPagesOfTheConsole(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	options, _ := withConsole(t)
	c := run(t, options, "-state", "test://", "-human-only", "-console", "127.0.0.1:0", "-audit",
		filepath.Join(dir, "audit.jsonl"), "-audit-key", key)
	defer c.end(t)
	at := consoleInLog.FindStringSubmatch(c.stderr.String())
	if at == nil {
		t.Fatalf("the log does not say where the console is:\n%s", c.stderr.String())
	}
	person := logIn(t, at[1])
	c.remove(t, "")
	for path, want := range map[string]string{
		"audit":      "as they were written with the key",
		"executions": "There is no such page",
		"policy":     "There is no policy",
	} {
		if page := get(t, person, at[1]+path); !strings.Contains(page, want) {
			t.Errorf("%s has no %q:\n%s", path, want, page)
		}
	}
	if page := get(t, person, at[1]+"audit?event=APPROVAL_REQUESTED"); !strings.Contains(page, `<th scope="row">`) {
		t.Errorf("what was asked is not on record:\n%s", page)
	}
}

// What became of reading the policy again is kept for a console of an adapter with a policy, and for nobody else.
func TestReloadsAreKept(t *testing.T) {
	var with, without setup.Options
	s := settings{policy: "policy.yaml"}
	for s, o := range map[*settings]*setup.Options{&s: &with, {}: &without} {
		if err := s.show(o, new(aql.Adapter), new(Options)); err != nil {
			t.Fatal(err)
		}
		s.reloads.note(nil)
	}
	if without.Reloaded != nil || with.Reloaded().At.IsZero() || with.Reloaded().Err != nil {
		t.Errorf("%+v", with.Reloaded())
	}
	faulty := errors.New("policy.yaml:3: a rule has no name")
	if s.reloads.note(faulty); !errors.Is(with.Reloaded().Err, faulty) {
		t.Errorf("%+v", with.Reloaded())
	}
}
