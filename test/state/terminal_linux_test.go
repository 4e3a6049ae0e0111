package state

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/approve"
)

// typist is a process at a terminal of its own, and the person who types there.
type typist struct {
	*exec.Cmd
	terminal       *os.File
	stdout, stderr bytes.Buffer // when it has ended

	mu     sync.Mutex
	screen bytes.Buffer
	read   chan struct{} // closed when all is read
}

// startTyping runs the program of the service at a terminal, with pipes besides that.
func startTyping(t *testing.T, args ...string) *typist {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	var number, unlocked int32
	raw, err := terminal.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlocked, syscall.TIOCGPTN: &number} {
		var failure syscall.Errno
		if err := raw.Control(func(fd uintptr) {
			_, _, failure = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
		}); err != nil || failure != 0 {
			t.Fatal(err, failure)
		}
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	y := &typist{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...), terminal: terminal, read: make(chan struct{})}
	y.Env = append(os.Environ(), workerVariable+"=service")
	y.Stdout, y.Stderr, y.ExtraFiles = &y.stdout, &y.stderr, []*os.File{screen}
	y.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := y.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(y.read)
		for part := make([]byte, 4096); ; {
			n, err := terminal.Read(part)
			y.mu.Lock()
			y.screen.Write(part[:n])
			y.mu.Unlock()
			if err != nil { // the process has ended
				return
			}
		}
	}()
	return y
}

// sees returns what the terminal shows.
func (y *typist) sees() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.screen.String()
}

// types types a line when a prompt is shown for the nth time.
func (y *typist) types(t *testing.T, prompt string, n int, line string) {
	t.Helper()
	soon(t, prompt, func() bool { return strings.Count(y.sees(), prompt) >= n })
	if _, err := y.terminal.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end of the process, which must be all right.
func (y *typist) ends(t *testing.T) {
	t.Helper()
	if err := y.Wait(); err != nil {
		t.Fatalf("%v: %s%s%s", err, y.sees(), &y.stdout, &y.stderr)
	}
	<-y.read
}

// traces returns what everybody on the machine, or the same user, sees of the process while it runs.
func (y *typist) traces(t *testing.T) string {
	t.Helper()
	return tracesOf(t, y.Process.Pid)
}

func tracesOf(t *testing.T, pid int) string {
	t.Helper()
	var all []byte
	for _, name := range []string{"cmdline", "environ", "status", "comm"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return string(all)
}

// shows reports whether the terminal shows what is typed.
func (y *typist) shows(t *testing.T) bool {
	t.Helper()
	var settings syscall.Termios
	raw, err := y.terminal.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failure syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		_, _, failure = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	}); err != nil || failure != 0 {
		t.Fatal(err, failure)
	}
	return settings.Lflag&syscall.ECHO != 0
}

// Whoever interrupts the subcommand while it asks has a terminal again that shows what is typed, and nothing is done.
func TestQuestionsAreInterrupted(t *testing.T) {
	dir := t.TempDir()
	location := filepath.Join(dir, "state.db")
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	item, _, err := approve.New(state).Ask(t.Context(), approve.Question{
		Kind: approve.Confirmation, At: time.Now(), Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	for prompt, words := range map[string][]string{
		"New passphrase, of 12 characters or more: ": {"passphrase"}, "Type approve ": {"approve", item.ID},
	} {
		y := startTyping(t, append([]string{"-state", location, "operator"}, words...)...)
		soon(t, prompt, func() bool { return strings.Contains(y.sees(), prompt) })
		if words[0] == "passphrase" && y.shows(t) {
			t.Error("the terminal shows what is typed")
		}
		if _, err := y.terminal.WriteString("\x03"); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		if err := y.Wait(); err == nil || !strings.Contains(y.stderr.String(), "interrupted") {
			t.Errorf("%s: %v, %s", prompt, err, &y.stderr)
		}
		if !y.shows(t) {
			t.Errorf("%s: the terminal does not show any more what is typed", prompt)
		}
	}
}
