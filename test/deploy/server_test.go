//go:build unix

package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A server is the machine of docs/deploy-server.md. In place of systemd the test starts the program of the unit: with
// its command line, environment, credentials and folders, and as another user if root runs the test.
type server struct {
	*machine
	address    string
	metrics    string // address
	console    string // address
	monitor    string // address of Prometheus
	u          unit
	running    *running
	proxy      *proxy
	prometheus *prometheus
}

// serviceUser is who runs the service in tests that root runs: nobody.
const serviceUser = 65534

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{address: free(t), metrics: free(t), console: free(t), monitor: free(t)}
	s.machine = newMachine(t, map[string]func(string) (string, error){
		"systemctl": s.systemctl, "systemd-sysusers": s.sysusers, "haproxy": s.haproxy,
	})
	s.places = append(s.places, "127.0.0.1:8080", s.address, "127.0.0.1:9464", s.metrics, "127.0.0.1:9080", s.console,
		"127.0.0.1:9090", s.monitor)
	write(t, s.root, 0o755, map[string]string{"bin/systemd-run": s.systemdRun()})
	return s
}

// systemctl does what systemd does for a command of the page.
func (s *server) systemctl(arguments string) (string, error) {
	switch arguments {
	case "daemon-reload":
		text, err := os.ReadFile(filepath.Join(s.root, "etc/systemd/system/todo.service"))
		if err != nil {
			return "", err
		}
		s.u = parseUnit(string(text))
		return "", nil
	case "enable --now todo":
		return "", s.start()
	case "restart todo":
		if code := s.running.stop(s.T); code != 0 {
			return "", fmt.Errorf("the service ended with exit code %d", code)
		}
		return "", s.start()
	case "reload haproxy":
		s.proxy = startProxy(s.T, filepath.Join(s.root, "etc/haproxy/haproxy.cfg"), s.root, s.behind())
		return "", nil
	case "restart prometheus":
		return "", s.startPrometheus()
	}
	return "", fmt.Errorf("systemctl %s", arguments)
}

// systemdRun is a script in place of systemd-run, for the one of the page: it runs a script of sh as the user of the
// service, with the credentials of that, on this machine.
func (s *server) systemdRun() string {
	as := ""
	if os.Getuid() == 0 {
		as = fmt.Sprintf("setpriv --reuid=%[1]d --regid=%[1]d --clear-groups ", serviceUser)
	}
	return fmt.Sprintf(`#!/bin/sh -eu
while [ "${1#--}" != "$1" ]; do shift; done
[ "$1 $2" = "/bin/sh -c" ]
script=$(echo "$3" | sed 's#/usr/local/#%[1]s&#g; s#/var/#%[1]s&#g')
shift 3
export CREDENTIALS_DIRECTORY=%[1]s/credentials
exec %[2]s/bin/sh -c "$script" "$@"
`, s.root, as)
}

// behind are the places of the proxy's configuration, and of this machine.
func (s *server) behind() []string {
	return []string{"/etc/haproxy/", s.root + "/etc/haproxy/", "127.0.0.1:8080", s.address}
}

// haproxy does what haproxy does for a command of the page, which has it check its configuration.
func (s *server) haproxy(arguments string) (string, error) {
	file, ok := strings.CutPrefix(arguments, "-c -q -f ")
	if !ok {
		return "", fmt.Errorf("haproxy %s", arguments)
	}
	_, err := checkProxy(s.T, file, s.root, append([]string{":443", free(s.T)}, s.behind()...))
	return "", err
}

// startPrometheus starts Prometheus with what the page has put into its folder, as Debian does.
func (s *server) startPrometheus() error {
	text, err := os.ReadFile(filepath.Join(s.root, "etc/default/prometheus"))
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("ARGS=%q\n", "--web.listen-address="+s.monitor); string(text) != want {
		return fmt.Errorf("the arguments are %s, and not %s", text, want)
	}
	s.prometheus = startPrometheus(s.T, filepath.Join(s.root, "etc/prometheus/prometheus.yml"), s.monitor,
		[]string{"127.0.0.1:9464", s.metrics})
	return nil
}

// sysusers makes users below the folder of the machine.
func (s *server) sysusers(arguments string) (string, error) {
	program, err := exec.LookPath("systemd-sysusers")
	if err != nil {
		return "", err
	}
	printed, err := exec.CommandContext(s.Context(), program, "--root="+s.root,
		arguments).CombinedOutput()
	return string(printed), err
}

// start starts the service. Its credentials are copies of what the page has made, which are its own.
func (s *server) start() error {
	for _, credential := range s.u["LoadCredential"] {
		name, source, _ := strings.Cut(credential, ":")
		text, err := os.ReadFile(s.root + source)
		if err != nil {
			return err
		}
		path := filepath.Join(s.root, "credentials", name)
		_ = os.Remove(path) // of the start before
		write(s.T, filepath.Dir(path), 0o400, map[string]string{name: string(text)})
		s.own(path)
	}
	for _, setting := range []struct{ folder, name string }{{"var/lib", "StateDirectory"}, {"var/log", "LogsDirectory"}} {
		mode, err := strconv.ParseUint(s.u.one(s.T, setting.name+"Mode"), 8, 32)
		if err != nil {
			return err
		}
		path := filepath.Join(s.root, setting.folder, s.u.one(s.T, setting.name))
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, fs.FileMode(mode))); err != nil {
			return err
		}
		s.own(path)
	}
	places := strings.NewReplacer(append([]string{
		"%d", s.root + "/credentials", "%S", s.root + "/var/lib", "%L", s.root + "/var/log",
	}, s.places...)...)
	environment := map[string]string{}
	for _, setting := range s.u["Environment"] {
		name, value, _ := strings.Cut(setting, "=")
		environment[name] = places.Replace(value)
	}
	words := strings.Fields(os.Expand(places.Replace(s.u.one(s.T, "ExecStart")), func(name string) string {
		if _, ok := environment[name]; !ok {
			s.Errorf("the unit does not set %s", name)
		}
		return environment[name]
	}))
	command := exec.CommandContext(s.Context(), words[0], words[1:]...)
	command.Dir, command.Env = "/", []string{"LANG=C.UTF-8"}
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: serviceUser, Gid: serviceUser}}
	}
	s.running = start(s.T, s.address, command)
	return nil
}

// own gives a path to the user of the service.
func (s *server) own(path string) {
	s.Helper()
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chown(path, serviceUser, serviceUser); err != nil {
		s.Fatal(err)
	}
}

// The page about one server: what it installs serves, as a user who can write two folders and read copies of the keys,
// behind TLS. What agents were told survives a new version.
func TestServerPage(t *testing.T) {
	const page = "docs/deploy-server.md"
	if testing.Short() {
		t.Skip("builds the server of the example, and aql-tag")
	}
	for _, program := range []struct{ name, debian string }{
		{"systemd-sysusers", "systemd"}, {"haproxy", "haproxy"}, {"sqlite3", "sqlite3"}, {"openssl", "openssl"},
		{"curl", "curl"},
		{"promtool", "prometheus"}, {"prometheus", "prometheus"},
	} {
		need(t, program.name, program.debian)
	}
	s := newServer(t)
	trusted := certify(t, s.home(), "todo.example.org")
	before, rest := split(t, blocks(t, page), "todo-operator list")
	printed := s.do(page, before...)
	if !strings.Contains(printed, `"https://todo.example.org/mcp"`) {
		t.Errorf("connect does not print where the server is:\n%s", printed)
	}
	users, err := os.ReadFile(filepath.Join(s.root, "etc/passwd"))
	if err != nil || !strings.Contains(string(users), "\ntodo:") && !strings.HasPrefix(string(users), "todo:") {
		t.Errorf("the user of the unit is not made: %v\n%s", err, users)
	}
	bearer, err := os.ReadFile(filepath.Join(s.home(), "token-of-ann"))
	if err != nil {
		t.Fatal(err)
	}

	ann := s.proxy.agent("todo.example.org", string(bearer), trusted)
	another := ann
	another.token = "another"
	_, err = another.call(t.Context(), "read", "list_todos", nil)
	if err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("another token: %v", err)
	}
	foreign := s.proxy.agent("todo.example.net", string(bearer), trusted)
	if _, err := foreign.call(t.Context(), "read", "list_todos", nil); err == nil {
		t.Error("another host is served")
	}
	var created struct {
		TodoID string `json:"todo_id"`
	}
	todo := ann.must(t, "create", "create_todo", map[string]string{"title": "Pay the rent"})
	if err := json.Unmarshal(todo, &created); err != nil {
		t.Fatal(err)
	}
	which := map[string]string{"todo_id": created.TodoID}
	ann.refused(t, "delete", "delete_todo", which, "CONFIRMATION_REQUIRED")

	if page := visit(t, s.console); !strings.Contains(page, "passphrase") {
		t.Errorf("the console does not ask who comes:\n%s", page)
	}
	printed = s.do(page, rest...)
	for _, want := range []string{"delete_todo", "ok, "} {
		if !strings.Contains(printed, want) {
			t.Errorf("the page does not show %q:\n%s", want, printed)
		}
	}
	ann.must(t, "read", "get_todo", which)
	ann.refused(t, "delete", "delete_todo", which, "CONFIRMATION_REQUIRED")
	s.prometheus.collects(1)
	if kept, err := filepath.Glob(filepath.Join(s.root, "var/backups/todo/todo-*.db")); err != nil || len(kept) != 1 {
		t.Errorf("backups: %v, %v", kept, err)
	}
	for _, name := range []string{"state.key", "audit.key", "tokens"} {
		info, err := os.Stat(filepath.Join(s.root, "etc/todo", name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	u := usageOf(t, filepath.Join(s.root, "usr/local/bin/todo-server"))
	var variables []string
	for _, setting := range s.u["Environment"] {
		name, _, _ := strings.Cut(setting, "=")
		variables = append(variables, name)
	}
	u.knows(t, strings.Fields(s.u.one(t, "ExecStart")), variables)
}
