//go:build unix

package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/jackc/pgx/v5"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
)

// A fleet is the machine of docs/deploy-fleet.md. In place of docker the test starts what the compose file says: the
// adapters with their command lines, PostgreSQL, and HAProxy with its configuration.
type fleet struct {
	*machine
	project  *types.Project
	database string // folder of the socket of PostgreSQL
	program  string // of which adapters are started
	next     string // of which they are, once it is built
	replicas map[string]*running
	places   map[string]string // addresses of adapters
	metrics  map[string]string // addresses
	console  string            // address
	proxy    *proxy

	monitor    string // address of Prometheus
	prometheus *prometheus
}

// newFleet returns a machine on which only PostgreSQL runs.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		project: project(t), program: build(t, "1.0.0"), next: build(t, "2.0.0"),
		replicas: map[string]*running{}, places: map[string]string{}, metrics: map[string]string{},
		console: free(t), monitor: free(t),
	}
	f.machine = newMachine(t, map[string]func(string) (string, error){"docker": f.docker})
	f.work = filepath.Join(f.root, "deploy")
	f.machine.places = append(f.machine.places, "127.0.0.1:9090", f.monitor)
	for _, name := range []string{
		"compose.yaml", "haproxy-fleet.cfg", "policy.yaml", "prometheus-fleet.yml", "alerts.yml",
	} {
		write(t, f.work, 0o644, map[string]string{name: read(t, "deploy/"+name)})
	}
	write(t, f.work, 0o755, map[string]string{"roll.sh": read(t, "deploy/roll.sh")})
	if err := os.Mkdir(filepath.Join(f.root, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 { // who is not root owns all that the page makes
		write(t, f.root, 0o755, map[string]string{"bin/chown": "#!/bin/sh\n"})
	}
	for _, name := range processes {
		f.places[name], f.metrics[name] = free(t), free(t)
	}
	server := postgrestest.Start(t)
	f.database = server.Dir()
	connection, err := pgx.Connect(t.Context(), server.Location())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	for _, statement := range []string{"create role todo login", "create database todo owner todo"} {
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// docker does what docker does for a command of the page.
func (f *fleet) docker(arguments string) (string, error) {
	words := strings.Fields(arguments)
	if len(words) < 2 || words[0] != "compose" {
		return "", fmt.Errorf("docker %s", arguments)
	}
	switch rest := strings.Join(words[1:], " "); {
	case rest == "up --detach --build":
		for _, name := range processes {
			f.start(name)
		}
		f.startPrometheus()
		places := []string{"/etc/haproxy/", f.work + "/secrets/", "/run/haproxy", f.work + "/run"}
		for _, name := range adapters {
			places = append(places, " "+name+":8080", " "+f.places[name])
		}
		f.proxy = startProxy(f.T, filepath.Join(f.work, "haproxy-fleet.cfg"), f.root, places)
		return "", nil
	case rest == "build":
		f.program = f.next
		return "", nil
	case strings.HasPrefix(rest, "up --detach --no-deps "):
		name := words[len(words)-1]
		if code := f.replicas[name].stop(f.T); code != 0 {
			return "", fmt.Errorf("%s ended with exit code %d", name, code)
		}
		f.start(name)
		return "", nil
	case strings.HasPrefix(rest, "exec "):
		command := f.command(words[2], words[4:])
		printed, err := command.CombinedOutput()
		return string(printed), err
	}
	return "", errors.New("docker " + arguments)
}

// command is a program in the container of an adapter: with places of this machine.
func (f *fleet) command(name string, arguments []string) *exec.Cmd {
	f.Helper()
	state := f.project.Services[name].Environment["MCP_AQL_STATE"]
	const overNetwork, overSocket = "@postgres/todo?", "@/todo?host=/run/postgresql&"
	if state == nil || !strings.Contains(*state, overNetwork) && !strings.Contains(*state, overSocket) {
		f.Fatalf("the state of %s is elsewhere", name)
	}
	database := "@/todo?host=" + url.QueryEscape(f.database) + "&"
	here := strings.NewReplacer("/run/secrets", f.work+"/secrets", "/etc/todo", f.work, "/var/lib/todo", f.root+"/data",
		"0.0.0.0:8080", f.places[name], "unix:/tmp/mcp.sock", f.places[name], "0.0.0.0:9464", f.metrics[name],
		"127.0.0.1:9080", f.console, overNetwork, database, overSocket, database)
	arguments = slices.Clone(arguments)
	for i, argument := range arguments {
		arguments[i] = here.Replace(argument)
	}
	command := exec.CommandContext(f.Context(), f.program, arguments...)
	command.Dir, command.Env = filepath.Join(f.root, "data"), []string{"MCP_AQL_STATE=" + here.Replace(*state)}
	return command
}

// startPrometheus starts Prometheus with the configuration of the compose file.
func (f *fleet) startPrometheus() {
	f.Helper()
	service := f.project.Services["prometheus"]
	const configuration = "/etc/prometheus/prometheus.yml"
	reads := slices.ContainsFunc(service.Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Target == configuration && filepath.Base(v.Source) == "prometheus-fleet.yml"
	})
	if !reads || !slices.Contains(service.Command, "--config.file="+configuration) {
		f.Errorf("Prometheus has another configuration: %q, %v", service.Command, service.Volumes)
	}
	var places []string
	for _, name := range adapters {
		places = append(places, name+":9464", f.metrics[name])
	}
	f.prometheus = startPrometheus(f.T, filepath.Join(f.work, "prometheus-fleet.yml"), f.monitor, places)
}

// start starts an adapter.
func (f *fleet) start(name string) {
	f.Helper()
	arguments := slices.Concat([]string{"-db", "/var/lib/todo/todo.db"}, f.project.Services[name].Command)
	f.replicas[name] = start(f.T, f.places[name], f.command(name, arguments))
}

// The page about a fleet: a new version takes the place of the old one in three adapters, one after the other, while
// agents create todos and start imports as fast as they can. Every call is answered with success, each todo is there
// once, and every import that was started ends.
func TestFleetPage(t *testing.T) {
	const page = "docs/deploy-fleet.md"
	need(t, "socat", "socat")
	need(t, "haproxy", "haproxy")
	need(t, "curl", "curl")
	need(t, "prometheus", "prometheus")
	f := newFleet(t)
	trusted := certify(t, f.home(), "todo.example.org")
	before, rest := split(t, blocks(t, page), "roll.sh")
	f.do(page, before...)
	bearer, err := os.ReadFile(filepath.Join(f.home(), "token-of-ann"))
	if err != nil {
		t.Fatal(err)
	}
	ann := f.proxy.agent("todo.example.org", string(bearer), trusted)

	f.keepsSessions(ann)
	const agents, ofImport = 4, 20
	var created, imports atomic.Int64
	var executions sync.Map
	stop, called := make(chan struct{}), make(chan struct{}, 1)
	var working sync.WaitGroup
	for number := range agents {
		working.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				title := fmt.Sprintf("todo %d of agent %d", round, number)
				operation, family, params := "create_todo", "create", map[string]any{"title": title}
				if round%10 == 0 {
					var todos []map[string]string
					for i := range ofImport {
						todos = append(todos, map[string]string{"title": fmt.Sprintf("%s, part %d", title, i)})
					}
					operation, family, params = "import_todos", "execute", map[string]any{"todos": todos, "request_key": title}
				}
				got, err := ann.call(t.Context(), family, operation, params)
				if err != nil || !got.Success {
					t.Errorf("%s: %v, %+v", operation, err, got)
					return
				}
				select {
				case called <- struct{}{}:
				default:
				}
				if operation == "create_todo" {
					created.Add(1)
					continue
				}
				var started struct {
					ID string `json:"execution_id"`
				}
				if err := json.Unmarshal(got.Data, &started); err != nil || started.ID == "" {
					t.Errorf("%s: %v", got.Data, err)
					return
				}
				imports.Add(1)
				executions.Store(started.ID, true)
			}
		})
	}
	idle := make(chan struct{}) // closed when no agent works
	go func() {
		working.Wait()
		close(idle)
	}()
	someCalls := func() {
		for range 20 {
			select {
			case <-called:
			case <-idle:
				t.Fatal("all agents have given up")
			}
		}
	}
	someCalls()
	printed := f.do(page, rest[0])
	someCalls()
	close(stop)
	<-idle
	if strings.Count(printed, "is replaced") != len(adapters) {
		t.Errorf("roll.sh says:\n%s", printed)
	}

	executions.Range(func(id, _ any) bool {
		for {
			var e struct{ Status string }
			if err := json.Unmarshal(ann.must(t, "read", "get_execution", map[string]any{
				"execution_id": id, "wait_ms": 1000,
			}), &e); err != nil {
				t.Fatal(err)
			}
			switch e.Status {
			case "pending", "running", "retrying":
				continue
			case "completed":
			default:
				t.Errorf("import %s is %s", id, e.Status)
			}
			return true
		}
	})
	list := ann.must(t, "read", "list_todos", map[string]any{
		"aggregate": map[string]any{"all": map[string]any{"count": true}},
	})
	want := created.Load() + ofImport*imports.Load()
	if !strings.Contains(string(list), fmt.Sprintf(`{"all":%d}`, want)) {
		t.Errorf("%d todos were acknowledged, and there are %s", want, list)
	}
	t.Logf("%d todos, %d imports", created.Load(), imports.Load())
	ann.refused(t, "delete", "delete_todo", map[string]string{"todo_id": "todo_1"}, "CONFIRMATION_REQUIRED")
	if printed := f.do(page, rest[1:]...); !strings.Contains(printed, "delete_todo") {
		t.Errorf("the page does not show what waits:\n%s", printed)
	}
	f.showsAllReplicas()
	f.prometheus.collects(len(adapters))
	f.verifyRecords()
}

// keepsSessions checks that the proxy has one adapter serve a session, which no other knows.
func (f *fleet) keepsSessions(ann agent) {
	f.Helper()
	session := ""
	send := func(message string) {
		f.Helper()
		r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, ann.url+"/mcp", strings.NewReader(message))
		if err != nil {
			f.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+ann.token)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		reply, err := ann.client.Do(r)
		if err != nil {
			f.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode >= http.StatusBadRequest {
			f.Errorf("%s in session %q: %s", message, session, reply.Status)
		}
		session = cmp.Or(session, reply.Header.Get("Mcp-Session-Id"))
	}
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for id := range 3 * len(adapters) {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id+1))
	}
	if session == "" {
		f.Error("there is no session")
	}
}

// showsAllReplicas checks that who logs in to the console finds there what the adapters were asked for, who says so
// once somebody looks.
func (f *fleet) showsAllReplicas() {
	f.Helper()
	const typed = "correct horse battery"
	choose(f.T, f.command("console", []string{"operator", "passphrase", "-state-key", "/run/secrets/state.key"}), typed)
	person := logIn(f.T, f.console, typed)
	has := func(page string, parts ...string) (missing string) {
		text := person.page(f.T, page)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return fmt.Sprintf("/%s has no %q:\n%s", page, part, text)
			}
		}
		return ""
	}
	machine, err := os.Hostname()
	if err != nil {
		f.Fatal(err)
	}
	replicas := []string{"this one"}
	for _, name := range adapters {
		replicas = append(replicas, fmt.Sprintf("%s %d<", machine, f.replicas[name].Process.Pid))
	}
	for has("calls", "delete_todo") != "" || has("health", replicas...) != "" {
		select {
		case <-f.Context().Done():
			f.Fatal(has("calls", "delete_todo"), has("health", replicas...))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// verifyRecords ends the adapters, and checks the chain of the records that they have all written.
func (f *fleet) verifyRecords() {
	f.Helper()
	for name, replica := range f.replicas {
		if code := replica.stop(f.T); code != 0 {
			f.Errorf("%s ends with exit code %d", name, code)
		}
	}
	key, err := audit.ReadKey(filepath.Join(f.work, "secrets", "audit.key"))
	if err != nil {
		f.Fatal(err)
	}
	file := filepath.Join(f.root, "data", "audit.log")
	if _, err := audit.VerifyFile(f.Context(), file, audit.VerifyOptions{Key: key, AtLeast: 1}); err != nil {
		f.Error(err)
	}
}
