package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

// lifetime is how long a token is valid: short, so that processes stand still beyond it.
const lifetime = 3 * time.Second

// stateTimeout is how long a call waits for the state.
const stateTimeout = 500 * time.Millisecond

// auditSize is small, so that many files are closed while processes die.
const auditSize = 256 << 10

// longest is beyond all that anything waits for: PostgreSQL ends transactions that idle for 10 s, and SQLite and audit
// files are waited for as long.
const longest = 11 * time.Second

// server is a server with the state, which can be taken away.
type server interface {
	Kill()
	Restart()
	Freeze()
	Thaw()
}

// world is what the clients and the plan act on.
type world struct {
	t       testing.TB
	kind    string
	began   time.Time
	dir     string
	fixture string // the programs
	aqlTag  string
	mutant  string
	bounds  bounds

	server server // nil with SQLite
	disks  map[string]*disk
	keys   map[string]string // files; of what has none, the name is empty
	slots  []*slot

	history  history
	ending   atomic.Bool
	mu       sync.Mutex
	faults   []string
	verified int
	starts   int // that failed
}

// mostEnds is how often a process may end before it serves. Between its starts are 50 milliseconds.
const mostEnds = 600

// slot is a process of the fixture, which may be killed and started again.
type slot struct {
	process
	world     *world
	arguments []string
	audit     string
	store     *proxy // to the server with the state; nil: there is none
	front     *proxy // to the process; nil on stdio
	web       *web

	mu      sync.Mutex
	command *exec.Cmd
	pipes   *pipes
	life    int
	frozen  bool
	killed  bool  // by the test, and not to be started again before it says so
	ends    int   // by itself
	wrote   *tail // by the process that ended so last
	ended   chan struct{}
}

// kind is a store.
type kind struct {
	name string
	// open starts the server. It returns the socket of the server, and the location for one that is at another socket.
	open func(t testing.TB) (s server, socket string, location func(folder string) string)
}

// postgresSocket is the name that PostgreSQL's clients expect.
const postgresSocket = ".s.PGSQL.5432"

var kinds = []kind{
	{"sqlite", nil},
	{"redis", func(t testing.TB) (server, string, func(string) string) {
		s := redistest.Start(t, "--appendfsync", "always") // what a killed server may lose otherwise, its store says
		return s, s.Socket(), func(folder string) string { return "redis+unix://" + filepath.Join(folder, postgresSocket) }
	}},
	{"postgres", func(t testing.TB) (server, string, func(string) string) {
		s := postgrestest.Start(t)
		return s, filepath.Join(s.Dir(), postgresSocket), func(folder string) string {
			return "postgres://postgres@/postgres?pool_max_conns=6&host=" + url.QueryEscape(folder)
		}
	}},
}

// newWorld starts the processes on a store.
func newWorld(t testing.TB, k kind, seed uint64, mutant string, limits bounds) *world {
	t.Helper()
	dir, err := os.MkdirTemp(built, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{
		t: t, kind: k.name, dir: dir, mutant: mutant, bounds: limits, disks: make(map[string]*disk),
		keys: make(map[string]string),
	}
	w.fixture, w.aqlTag = programs(t)
	folder := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"state", "audit"} {
		path := folder(name)
		if name == "state" && k.open != nil {
			continue
		}
		if d := newDisk(t, path); d != nil {
			w.disks[name] = d
		} else {
			t.Logf("the disk of %s is never full: this test may not mount one", name)
		}
	}
	// With every other seed the state is sealed, with every other two the audit log.
	for i, name := range []string{"state", "audit"} {
		if seed>>i&1 == 0 {
			w.keys[name] = filepath.Join(dir, name+".key")
			text := strings.Repeat("0123456789abcde"+strconv.Itoa(i), 4)
			if err := os.WriteFile(w.keys[name], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	location := func(string) string { return filepath.Join(dir, "state", "state.db") }
	socket := ""
	if k.open != nil {
		w.server, socket, location = k.open(t)
	}
	for i, c := range []struct {
		process
		audit     string
		arguments []string
	}{
		{process{name: "a"}, "shared", nil},
		{process{name: "b"}, "shared", nil},
		{process{name: "c"}, "c", nil},
		{process{name: "h", human: true}, "h", []string{"-ask-people"}},
		{process{name: "s", stdio: true}, "s", []string{"-session-scope"}},
		{process{name: "t", stdio: true}, "t", []string{"-session-scope"}},
	} {
		s := &slot{process: c.process, world: w, audit: filepath.Join(dir, "audit", c.audit), killed: true}
		own := folder(c.name)
		if socket != "" {
			s.store = newProxy(t, filepath.Join(own, postgresSocket), socket, seed+uint64(i))
		}
		s.arguments = append([]string{
			"-process", c.name, "-journal", w.journal(), "-state", location(own), "-state-key", w.keys["state"],
			"-audit", s.audit, "-audit-key", w.keys["audit"], "-audit-size", strconv.Itoa(auditSize),
			"-lifetime", limits.lifetime.String(), "-state-timeout", stateTimeout.String(),
			"-calls", fmt.Sprint(limits.calls), "-bells", fmt.Sprint(limits.bells), "-mutant", mutant, "-log-level", "warn",
		}, c.arguments...)
		if !c.stdio {
			address := filepath.Join(own, "http")
			s.arguments = append(s.arguments, "-transport", "http", "-addr", "unix:"+address)
			s.front = newProxy(t, filepath.Join(own, "front"), address, seed+100+uint64(i))
			s.web = newWeb(filepath.Join(own, "front"))
		}
		w.slots = append(w.slots, s)
	}
	t.Cleanup(func() {
		w.ending.Store(true)
		for _, s := range w.slots {
			s.kill()
		}
	})
	for _, s := range w.slots {
		s.start()
	}
	return w
}

func (w *world) journal() string { return filepath.Join(w.dir, "journal") }

// fault adds what is wrong.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// start starts the process, and again whenever it ends before it serves: what it needs may be away.
func (s *slot) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = false
	s.launch()
}

// launch starts the process. The lock is held.
func (s *slot) launch() {
	command := exec.Command(s.world.fixture, s.arguments...)
	command.SysProcAttr = attributes()
	command.Dir = s.world.dir
	failure := new(tail)
	command.Stderr = failure
	in, err := command.StdinPipe()
	if err != nil {
		s.world.t.Fatal(err)
	}
	var out io.ReadCloser
	if s.stdio {
		if out, err = command.StdoutPipe(); err != nil {
			s.world.t.Fatal(err)
		}
	}
	if err := command.Start(); err != nil {
		s.world.t.Fatal(err)
	}
	s.command, s.frozen, s.ended = command, false, make(chan struct{})
	s.life++
	if s.stdio {
		s.pipes = newPipes(in, out)
	}
	go s.await(command, failure, s.pipes, s.ended)
}

// await waits for the end of a process.
func (s *slot) await(command *exec.Cmd, failure *tail, p *pipes, ended chan struct{}) {
	if p != nil {
		<-p.gone // Wait closes the pipe
	}
	err := command.Wait()
	defer close(ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	var exit *exec.ExitError
	switch {
	case s.killed && errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
	case s.world.ending.Load() && err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == 3 && !s.world.ending.Load(): // what it needs at its start is away
		s.world.mu.Lock()
		s.world.starts++
		s.world.mu.Unlock()
		s.ends, s.wrote = s.ends+1, failure
		if !s.killed {
			time.AfterFunc(50*time.Millisecond, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.command == command && !s.killed && !s.world.ending.Load() {
					s.launch()
				}
			})
		}
	default:
		s.ends, s.wrote = s.ends+mostEnds, failure
		s.world.fault("process %s ended by itself: %v\n%s", s.name, err, failure)
	}
}

// endings returns how often the process ended by itself, and what it wrote when it did so last.
func (s *slot) endings() (int, *tail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends, s.wrote
}

// kill kills the process, and returns when it has ended.
func (s *slot) kill() {
	s.mu.Lock()
	s.killed = true
	command, ended := s.command, s.ended
	s.mu.Unlock()
	if command == nil {
		return
	}
	_ = command.Process.Kill() // it may have ended
	<-ended
}

// freeze stops the process for a while.
func (s *slot) freeze() { s.signal(syscall.SIGSTOP, true) }

// thaw lets it go on.
func (s *slot) thaw() { s.signal(syscall.SIGCONT, false) }

func (s *slot) signal(what syscall.Signal, frozen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.command.Process.Signal(what) // it may have ended
	s.frozen = frozen
}

// line returns the connection to the process, and in which of its lives that is.
func (s *slot) line() (line, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stdio {
		return s.pipes, s.life
	}
	return s.web, s.life
}

// call makes an attempt at a process.
func (w *world) call(ctx context.Context, s *slot, a attempt) answer {
	arguments := map[string]any{"operation": a.operation, "params": params(&a)}
	return w.send(ctx, s, request{arguments: arguments, state: a.state, approved: a.approved, human: s.human}, a)[0]
}

// params returns the parameters of an attempt.
func params(a *attempt) map[string]any {
	p := map[string]any{"id": a.id}
	if a.revokes != "" {
		p["caller"] = a.revokes
	}
	if a.token != "" {
		p["confirmation_token"] = a.token
	}
	return p
}

// send makes attempts in one request.
func (w *world) send(ctx context.Context, s *slot, r request, attempts ...attempt) []answer {
	l, life := s.line()
	for i := range attempts {
		attempts[i].process, attempts[i].life = s.process, life
	}
	begun := w.history.begin(attempts...)
	bearer := begun[0].caller + "." + begun[0].name
	got, err := l.send(ctx, r, bearer)
	answers := make([]answer, len(begun))
	switch {
	case err != nil:
		answers[0].detail = err.Error()
	case len(begun) == 1:
		answers[0] = got.answer()
	default:
		answers = got.answers(len(begun))
	}
	w.history.finish(begun, answers)
	return answers
}

// entries reads the journal. A line that a killed process has not finished is left out.
func (w *world) entries() []entry {
	text, err := os.ReadFile(w.journal())
	if err != nil {
		w.t.Fatal(err)
	}
	var all []entry
	for l := range bytes.Lines(text) {
		if !bytes.HasSuffix(l, []byte("\n")) {
			continue
		}
		var e entry
		if err := json.Unmarshal(l, &e); err != nil {
			w.t.Fatalf("the journal: %q: %v", l, err)
		}
		all = append(all, e)
	}
	return all
}
