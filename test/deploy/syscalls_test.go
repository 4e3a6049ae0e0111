//go:build unix

package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The unit lets the adapter make the system calls that it makes: while it starts, keeps todos and state, serves over
// HTTP, runs an import, and ends.
func TestUnitAllowsItsSystemCalls(t *testing.T) {
	strace, analyze := need(t, "strace", "strace"), need(t, "systemd-analyze", "systemd")
	program := build(t, "1.0.0")
	dir, address := open(t), free(t)
	command := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", "trace", "--",
		program, "-transport", "http", "-addr", address, "-db", "todo.db", "-state", "state.db", "-audit", "audit.log")
	command.Dir, command.Env = dir, []string{"LANG=C.UTF-8"}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 { // SQLite makes other calls for root
		if err := os.Chown(dir, serviceUser, serviceUser); err != nil {
			t.Fatal(err)
		}
		command.SysProcAttr.Credential = &syscall.Credential{Uid: serviceUser, Gid: serviceUser}
	}
	command.WaitDelay = time.Second // the program outlives strace where that is killed
	t.Cleanup(func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) })
	s := start(t, address, command)
	anybody := agent{url: "http://" + address, client: named(address)}
	anybody.must(t, "execute", "import_todos", map[string]any{
		"todos": []map[string]string{{"title": "Pay the rent"}}, "_wait": 10000,
	})
	if err := syscall.Kill(-s.Process.Pid, syscall.SIGTERM); err != nil { // the group: strace blocks the signal
		t.Fatal(err)
	}
	<-s.ended

	text, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	trace := string(text)
	made := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\d+ +([a-z0-9_]+)\(`).FindAllStringSubmatch(trace, -1) {
		made[match[1]] = true
	}
	u := parseUnit(read(t, unitFile))
	allowed := systemCalls(t, analyze, u["SystemCallFilter"])
	for _, call := range slices.Sorted(maps.Keys(made)) {
		if !allowed[call] {
			t.Errorf("the unit refuses %s", call)
		}
	}
	if len(made) < 30 || allowed["mount"] || allowed["chown"] {
		t.Errorf("%d calls were made, and all are allowed: %t", len(made), allowed["mount"])
	}
	families := strings.Fields(u.one(t, "RestrictAddressFamilies"))
	for _, match := range regexp.MustCompile(`socket\((AF_[A-Z0-9_]+)`).FindAllStringSubmatch(trace, -1) {
		if !slices.Contains(families, match[1]) {
			t.Errorf("the unit refuses sockets of %s", match[1])
		}
	}
	if found := regexp.MustCompile(`.*PROT_WRITE\|PROT_EXEC.*|.*mprotect\(.*PROT_EXEC.*`).FindString(trace); found != "" {
		t.Errorf("MemoryDenyWriteExecute refuses %s", found)
	}
}

// systemCalls returns what filters of a unit leave, as the systemd of this machine knows its sets of calls.
func systemCalls(t *testing.T, analyze string, filters []string) map[string]bool {
	t.Helper()
	printed, err := exec.CommandContext(t.Context(), analyze, "syscall-filter", "--no-pager").Output()
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(printed)) {
		switch word := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "@"):
			name = word
		case word == "":
			name = ""
		case name != "" && !strings.HasPrefix(word, "#"):
			sets[name] = append(sets[name], word)
		}
	}
	left := map[string]bool{}
	var set func(word string, to bool)
	set = func(word string, to bool) {
		for _, member := range sets[word] {
			set(member, to)
		}
		if !strings.HasPrefix(word, "@") {
			left[word] = to
		}
	}
	for _, filter := range filters {
		words, without := strings.CutPrefix(filter, "~")
		for word := range strings.FieldsSeq(words) {
			if strings.HasPrefix(word, "@") && len(sets[word]) == 0 {
				t.Fatalf("systemd has no set %s", word)
			}
			set(word, !without)
		}
	}
	return left
}
