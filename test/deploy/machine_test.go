//go:build unix

package deploy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/test/pages"
)

// A machine is where a reader does what a page says: its folders are below one of the test.
type machine struct {
	*testing.T
	root     string
	work     string // where the reader is
	places   []string
	commands *httptest.Server
}

// newMachine returns a machine with folders of a Debian, and with commands that the test carries out itself, such as
// systemctl. They get what follows their name.
func newMachine(t *testing.T, commands map[string]func(arguments string) (string, error)) *machine {
	t.Helper()
	m := &machine{T: t, root: open(t), work: repository(t)}
	for _, folder := range []string{
		"bin", "home", "usr/local/bin", "etc/default", "etc/haproxy", "etc/prometheus", "etc/systemd/system",
		"etc/sysusers.d", "var/lib", "var/log", "var/backups",
	} {
		if err := os.MkdirAll(filepath.Join(m.root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.places = []string{"/usr/local/", m.root + "/usr/local/", "/etc/", m.root + "/etc/", "/var/", m.root + "/var/"}
	m.commands = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		printed, err := commands[strings.TrimPrefix(r.URL.Path, "/")](r.FormValue("arguments"))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			printed += err.Error() + "\n"
		}
		fmt.Fprint(w, printed)
	}))
	t.Cleanup(m.commands.Close)
	scripts := map[string]string{}
	for name := range commands {
		scripts[name] = "#!/bin/sh\nexec curl -sS --fail-with-body --get " + m.commands.URL + "/" + name +
			" --data-urlencode \"arguments=$*\"\n"
	}
	write(t, filepath.Join(m.root, "bin"), 0o755, scripts)
	return m
}

// home is the reader's home.
func (m *machine) home() string { return filepath.Join(m.root, "home") }

// do does what blocks of a page say, and returns what the commands print.
func (m *machine) do(page string, blocks ...pages.Block) (printed string) {
	m.Helper()
	for _, block := range blocks {
		here := strings.NewReplacer(m.places...).Replace(block.Text)
		command := exec.CommandContext(m.Context(), "sh", "-eu", "-c", here)
		command.Dir = m.work
		command.Env = append(os.Environ(), "HOME="+m.home(),
			"PATH="+m.root+"/bin:"+m.root+"/usr/local/bin:"+os.Getenv("PATH"))
		for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
			place, err := exec.CommandContext(m.Context(), "go", "env", name).Output()
			if err != nil {
				m.Fatal(err)
			}
			command.Env = append(command.Env, name+"="+strings.TrimSpace(string(place)))
		}
		out, err := command.CombinedOutput()
		if err != nil {
			m.Fatalf("%s:%d: %v\n%s\n%s", page, block.Line, err, block.Text, out)
		}
		printed += string(out)
	}
	return printed
}

// blocks returns the commands of a page.
func blocks(t *testing.T, page string) []pages.Block {
	t.Helper()
	all, err := pages.Read(filepath.Join(repository(t), page))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(b pages.Block) bool { return b.Kind != "sh" })
}

// split returns the blocks before the one that has a text, and the rest.
func split(t *testing.T, all []pages.Block, text string) (before, rest []pages.Block) {
	t.Helper()
	i := slices.IndexFunc(all, func(b pages.Block) bool { return strings.Contains(b.Text, text) })
	if i < 0 {
		t.Fatalf("no block has %s", text)
	}
	return all[:i], all[i:]
}
