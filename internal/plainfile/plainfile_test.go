//go:build unix

package plainfile

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// place makes what the kind says under a name in a new folder.
func place(t *testing.T, kind string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "it")
	var err error
	switch kind {
	case "nothing":
	case "a file":
		err = os.WriteFile(name, []byte("text"), 0o600)
	case "a directory":
		err = os.Mkdir(name, 0o700)
	case "a named pipe":
		err = syscall.Mkfifo(name, 0o600)
	case "a socket":
		listener, fault := net.Listen("unix", name)
		if err = fault; err == nil {
			t.Cleanup(func() { listener.Close() })
		}
	case "a link to a file":
		err = errors.Join(os.WriteFile(name+".real", []byte("text"), 0o600), os.Symlink(name+".real", name))
	case "a link to nothing":
		err = os.Symlink(name+".real", name)
	case "a link to a device":
		err = os.Symlink("/dev/zero", name)
	case "a link to a named pipe":
		err = errors.Join(syscall.Mkfifo(name+".real", 0o600), os.Symlink(name+".real", name))
	default:
		t.Fatal(kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// C12: what is read, and what may be replaced by a file. Nothing is waited for.
func TestKinds(t *testing.T) {
	const fine = ""
	for kind, want := range map[string]struct{ read, readable, replaceable string }{
		"nothing":                {"no such file", fine, fine},
		"a file":                 {fine, fine, fine},
		"a directory":            {"is a directory, not a file", "is a directory", "is a directory, not a file"},
		"a named pipe":           {"is a named pipe that nobody writes to", "is a named pipe", "is a named pipe"},
		"a socket":               {"", "is a socket", "is a socket"},
		"a link to a file":       {fine, fine, "is a symbolic link"},
		"a link to nothing":      {"no such file", fine, "is a symbolic link"},
		"a link to a device":     {"is a device, not a file", "is a device", "is a symbolic link"},
		"a link to a named pipe": {"that nobody writes to", "is a named pipe", "is a symbolic link"},
	} {
		t.Run(kind, func(t *testing.T) {
			name := place(t, kind)
			check := func(what, want string, err error) {
				t.Helper()
				if want == fine && err != nil || want != fine && (err == nil || !strings.Contains(err.Error(), want) ||
					!strings.Contains(err.Error(), name)) {
					t.Errorf("%s: %v, want %q", what, err, want)
				}
			}
			if kind != "a socket" { // how a system refuses to open one differs
				_, err := Read(t.Context(), name, 100)
				check("Read", want.read, err)
			}
			check("Readable", want.readable, Readable(name))
			check("Replaceable", want.replaceable, Replaceable(name))
		})
	}
}

// C12: a pipe is read until its writers close it, and is not waited for when the context ends or nothing comes.
func TestPipes(t *testing.T) {
	open := func(t *testing.T) (name string, writer *os.File) {
		t.Helper()
		name = place(t, "a named pipe")
		writer, err := os.OpenFile(name, os.O_RDWR, 0) // also a reader, so that it is open at once
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { writer.Close() })
		return name, writer
	}
	t.Run("what is written is read", func(t *testing.T) {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if _, err := writer.WriteString("token"); err != nil {
			t.Fatal(err)
		}
		writer.Close()
		text, err := Read(t.Context(), fmt.Sprintf("/dev/fd/%d", reader.Fd()), 100) // the <(COMMAND) of a shell
		if err != nil || string(text) != "token" {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("the context ends", func(t *testing.T) {
		name, _ := open(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("interrupted"))
		if _, err := Read(ctx, name, 100); err == nil || !strings.Contains(err.Error(), name+": interrupted") {
			t.Error(err)
		}
	})
	t.Run("nothing comes", func(t *testing.T) {
		name, _ := open(t)
		if _, err := read(t.Context(), name, 100, time.Millisecond); err == nil ||
			!strings.Contains(err.Error(), "nobody wrote to it for 1ms") {
			t.Error(err)
		}
	})
}

// C12: a file that is too long is refused, and not read whole.
func TestLongFile(t *testing.T) {
	name := place(t, "a file")
	if text, err := Read(t.Context(), name, 4); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Read(t.Context(), name, 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Error(err)
	}
}

// C12: Write makes and replaces files, writes to devices, and waits for no reader.
func TestWrite(t *testing.T) {
	for kind, want := range map[string]string{
		"nothing": "", "a file": "", "a link to a file": "", "a named pipe": "is a named pipe that nobody reads",
		"a directory": "is a directory",
	} {
		name := place(t, kind)
		err := Write(name, []byte("new"), 0o600)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", kind, err, want)
		}
		if want != "" {
			continue
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "new" {
			t.Errorf("%s: %q, %v", kind, text, err)
		}
	}
	if err := Write("/dev/null", []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
}
