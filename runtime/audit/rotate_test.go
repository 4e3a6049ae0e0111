package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// rotating opens a file that is rotated after every two of the records that numbered makes.
func rotating(t testing.TB, path string, opts audit.FileOptions) *audit.File {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("files are not rotated here")
	}
	opts.MaxSize = 1100
	f, err := audit.OpenFile(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// rotatedChain writes n records, one at a time, to a file that is rotated, and returns its path.
func rotatedChain(t testing.TB, n int, key []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	f := rotating(t, path, audit.FileOptions{Key: key})
	for _, r := range numbered(n) {
		if err := f.Write(t.Context(), []audit.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// names returns the names in the folder of a path.
func names(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// C11: a file that is full is closed, and the chain goes on in a new one. All of them verify, together and as one text.
func TestFileRotates(t *testing.T) {
	for _, key := range [][]byte{nil, secret} {
		path := rotatedChain(t, 7, key)
		want := []string{"audit.log", "audit.log.000001", "audit.log.000002", "audit.log.000003"}
		if got := names(t, path); !slices.Equal(got, want) {
			t.Fatalf("files: %v", got)
		}
		// Seven records, three that close a file and three that open one.
		s := verify(t, path, key)
		if s.Records != 13 || s.Files != 4 {
			t.Errorf("%+v", s)
		}
		kept := keptIn(t, path)
		if len(kept) != 7 {
			t.Errorf("records: %v", kept)
		}
		whole, err := audit.Verify(bytes.NewReader(joined(t, path)), audit.VerifyOptions{Key: key, AtLeast: 13})
		if err != nil || whole.Head != s.Head || whole.Records != 13 {
			t.Errorf("one after the other: %+v, %v", whole, err)
		}
		for i, name := range want[1:] {
			one, err := audit.VerifyFile(t.Context(), path+name[len("audit.log"):], audit.VerifyOptions{Key: key})
			if wanted := uint64(min(i, 1) + 3); err != nil || one.Records != wanted || one.Files != 1 {
				t.Errorf("%s alone: %+v, %v", name, one, err)
			}
		}
		for line := range bytes.Lines(read(t, path+".000002")) {
			if !bytes.Contains(line, []byte(`"event":"FILE_OPENED"`)) ||
				!bytes.Contains(line, []byte(`"file":2,"oldest_file":1`)) ||
				!bytes.Contains(line, []byte(`"prev":"`+hashOf(lastLine(read(t, path+".000001"))))) {
				t.Errorf("the second file begins with %s", line)
			}
			break
		}
	}
}

func lastLine(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return lines[len(lines)-2]
}

// C11: whatever is done to one of several files is found, with the file and the line.
func TestVerifyFindsTamperingWithFiles(t *testing.T) {
	edit := func(name string, change func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, change(read(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	swap := func(a, b string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, move := range [][2]string{{a, "x"}, {b, a}, {"x", b}} {
				if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	withoutLast := func(text []byte) []byte { return text[:len(text)-len(lastLine(text))] }
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, dir string)
		file string
		line int
		want audit.Fault
	}{
		{"the first file is missing", remove("audit.log.000001"), "audit.log.000002", 1, audit.Removed},
		{"a file is missing", remove("audit.log.000002"), "audit.log.000003", 1, audit.Removed},
		{"the last closed file is missing", remove("audit.log.000003"), "audit.log", 1, audit.Removed},
		{"the current file is missing", remove("audit.log"), "audit.log", 0, audit.CutOff},
		{"the current file is empty", edit("audit.log", func([]byte) []byte { return nil }), "audit.log", 0, audit.CutOff},
		{
			"a closed file is empty", edit("audit.log.000002", func([]byte) []byte { return nil }), "audit.log.000002", 0,
			audit.CutOff,
		},
		{"a closed file is cut off", edit("audit.log.000002", withoutLast), "audit.log.000002", 3, audit.CutOff},
		{
			"a closed file is torn", edit("audit.log.000001", func(text []byte) []byte { return text[:len(text)-9] }),
			"audit.log.000001", 3, audit.Torn,
		},
		{"two files change places", swap("audit.log.000001", "audit.log.000002"), "audit.log.000001", 1, audit.Reordered},
		{
			"a file and the current one change places", swap("audit.log.000002", "audit.log"), "audit.log.000002", 1,
			audit.Reordered,
		},
		{"a line is changed", edit("audit.log.000002", func(text []byte) []byte {
			return bytes.Replace(text, []byte("ann"), []byte("bob"), 1)
		}), "audit.log.000002", 2, audit.Changed},
		{"a line is removed", edit("audit.log.000003", func(text []byte) []byte {
			lines := bytes.SplitAfter(text, []byte("\n"))
			return slices.Concat(slices.Delete(lines, 1, 2)...)
		}), "audit.log.000003", 2, audit.Removed},
		{"a line behind the end", edit("audit.log.000001", func(text []byte) []byte {
			return append(text, lastLine(text)...)
		}), "audit.log.000001", 4, audit.Inserted},
		{"a file is there twice", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "audit.log.000004"), read(t, filepath.Join(dir, "audit.log.000003")),
				0o600); err != nil {
				t.Fatal(err)
			}
		}, "audit.log.000004", 1, audit.Reordered},
		{"a file of another chain", func(t *testing.T, dir string) {
			other := rotatedChain(t, 9, []byte("another key of 32 bytes or more!"))
			if err := os.WriteFile(filepath.Join(dir, "audit.log.000002"), read(t, other+".000002"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "audit.log.000002", 1, audit.Changed},
		{"a file without a key", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "audit.log.000002"), read(t, rotatedChain(t, 9, nil)+".000002"),
				0o600); err != nil {
				t.Fatal(err)
			}
		}, "audit.log.000002", 1, audit.WrongKey},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := rotatedChain(t, 7, secret)
			tt.do(t, filepath.Dir(path))
			s, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: secret})
			var broken *audit.BrokenError
			if !errors.As(err, &broken) {
				t.Fatalf("not found: %+v, %v", s, err)
			}
			if filepath.Base(broken.File) != tt.file || broken.Line != tt.line || broken.Fault != tt.want {
				t.Errorf("%v, want %s, line %d: %s", err, tt.file, tt.line, tt.want)
			}
		})
	}
}

// C11: there is no byte in any of the files that can be changed, left out or doubled unseen.
func TestVerifyFindsEveryByteOfFiles(t *testing.T) {
	for _, key := range [][]byte{nil, secret} {
		path := rotatedChain(t, 3, key)
		for _, name := range names(t, path) {
			file := filepath.Join(filepath.Dir(path), name)
			text := read(t, file)
			found := func(what string, at int, changed []byte) {
				if err := os.WriteFile(file, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				if s, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: key}); err == nil {
					t.Errorf("%s, byte %d %s unseen: %+v", name, at, what, s)
				}
			}
			step := 1
			if testing.Short() {
				step = 5
			}
			for i := 0; i < len(text); i += step {
				changed := slices.Clone(text)
				changed[i] ^= 1 << (i % 8)
				found("changed", i, changed)
				if i%7 == 0 {
					found("left out", i, slices.Delete(slices.Clone(text), i, i+1))
					found("doubled", i, slices.Insert(slices.Clone(text), i, text[i]))
				}
			}
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		verify(t, path, key)
	}
}

// Files that were moved away are missed, unless they are not kept or it is said from which on they must be there.
func TestOldFiles(t *testing.T) {
	path := rotatedChain(t, 9, secret)
	for number := range 2 {
		if err := os.Remove(fmt.Sprintf("%s.%06d", path, number+1)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: secret})
	if err == nil || !strings.Contains(err.Error(), "audit.log.000002 is missing before it, with records up to 7") {
		t.Errorf("moved away: %v", err)
	}
	s, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: secret, First: 3})
	if err != nil || s.Records != 10 || s.Files != 3 {
		t.Errorf("moved away, and known: %+v, %v", s, err)
	}
	f := rotating(t, path, audit.FileOptions{Key: secret, Keep: 2})
	for _, r := range numbered(5) {
		if err := f.Write(t.Context(), []audit.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"audit.log", "audit.log.000005", "audit.log.000006"}
	if got := names(t, path); !slices.Equal(got, want) {
		t.Fatalf("kept: %v", got)
	}
	verify(t, path, secret)
	if err := os.Remove(path + ".000005"); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{Key: secret}); err == nil {
		t.Error("a file that is kept is not missed")
	}
}

// C11: a file that is removed after a rotation, because it is not kept, is missed by no verification that has begun
// before: that begins anew, and gives up where it happens each time.
func TestVerifyWhileOldFilesAreRemoved(t *testing.T) {
	for _, tt := range []struct {
		name  string
		times int // that the oldest file is removed before it is read
		ends  bool
	}{
		{"never", 0, true}, {"once", 1, true}, {"some times", 9, true}, {"each time", 1 << 30, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.log")
			f := rotating(t, path, audit.FileOptions{Keep: 2})
			write := func() {
				if err := f.Write(t.Context(), numbered(2)); err != nil {
					t.Fatal(err)
				}
			}
			for range 5 {
				write()
			}
			began := 0
			s, err := audit.VerifyFileAt(t.Context(), path, audit.VerifyOptions{}, func() {
				if began++; began <= tt.times {
					for kept := names(t, path); slices.Contains(names(t, path), kept[1]); {
						write()
					}
				}
			})
			broken := (*audit.BrokenError)(nil)
			switch {
			case errors.As(err, &broken):
				t.Errorf("nothing was tampered with: %v", err)
			case tt.ends && (err != nil || s.Files != 3 || began != tt.times+1):
				t.Errorf("begun %d times: %+v, %v", began, s, err)
			case !tt.ends && (err == nil || !strings.Contains(err.Error(), "was removed while")):
				t.Errorf("begun %d times: %+v, %v", began, s, err)
			}
		})
	}
	path := rotatedChain(t, 9, nil)
	first := true
	_, err := audit.VerifyFileAt(t.Context(), path, audit.VerifyOptions{}, func() {
		if first {
			first = false
			if err := os.Remove(path + ".000002"); err != nil {
				t.Fatal(err)
			}
		}
	})
	if broken := (*audit.BrokenError)(nil); !errors.As(err, &broken) || broken.Fault != audit.Removed {
		t.Errorf("a file that is kept, and was removed: %v", err)
	}
}

// Several writers rotate one file: every record is there once.
func TestFileIsSharedAndRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	var wg sync.WaitGroup
	for w := range 4 {
		f := rotating(t, path, audit.FileOptions{Key: secret})
		wg.Go(func() {
			for i := range 25 {
				r := full()
				r.RequestID = fmt.Sprint(w, ".", i)
				if err := f.Write(t.Context(), []audit.Record{r}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	s := verify(t, path, secret)
	if kept := keptIn(t, path); len(kept) != 100 || s.Files < 20 {
		t.Errorf("%d records in %d files", len(kept), s.Files)
	}
}

// C11: processes that rotate one file do not disturb each other.
func TestProcessesRotateAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	var wg sync.WaitGroup
	for p := range 3 {
		cmd := process(t, path, fmt.Sprint("p", p), 20)
		cmd.Env = append(cmd.Env, "AUDIT_TEST_SIZE=5000")
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil || bytes.Count(out, []byte("\n")) != 80 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	verify(t, path, secret)
	kept := keptIn(t, path)
	if len(kept) != 240 || slices.Max(slices.Collect(maps.Values(kept))) != 1 {
		t.Errorf("%d records: %v", len(kept), kept)
	}
}

// C11: a process that is killed between any two steps of a rotation loses nothing that was acknowledged. The files
// verify as it left them, and the next writer goes on.
func TestKilledWhileRotating(t *testing.T) {
	for _, step := range audit.Steps {
		t.Run(step, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.log")
			acknowledged := map[string]bool{}
			for round := range 3 {
				cmd := process(t, path, fmt.Sprint("r", round), 1_000_000)
				cmd.Env = append(cmd.Env, "AUDIT_TEST_SIZE=5000", "AUDIT_TEST_DIE="+step)
				out, err := cmd.Output()
				if err == nil {
					t.Fatal("it was not killed")
				}
				for line := range strings.Lines(string(out)) {
					acknowledged[strings.TrimSpace(line)] = true
				}
				verify(t, path, secret)
			}
			f := rotating(t, path, audit.FileOptions{Key: secret})
			if err := f.Write(t.Context(), numbered(1)); err != nil {
				t.Fatal(err)
			}
			if s := verify(t, path, secret); s.Files < 3 {
				t.Errorf("%+v", s)
			}
			kept := keptIn(t, path)
			for id := range acknowledged {
				if kept[id] != 1 {
					t.Errorf("record %s was acknowledged, and is there %d times", id, kept[id])
				}
			}
			for _, name := range names(t, path) {
				if strings.HasSuffix(name, ".next") {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

// Where a file cannot be rotated it grows on, and that is said once; when it can be, it is.
func TestFileThatCannotBeRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path+".000001", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said lockedBuffer
	if err := os.Rename(path+".000001", path+".away"); err != nil {
		t.Fatal(err)
	}
	f := rotating(t, path, audit.FileOptions{Logger: logger(&said)})
	if err := os.Rename(path+".away", path+".000001"); err != nil {
		t.Fatal(err)
	}
	for _, r := range numbered(6) {
		if err := f.Write(t.Context(), []audit.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(said.String(), "could not be rotated and grows on"); got != 1 {
		t.Errorf("it is said %d times: %s", got, said.String())
	}
	if err := os.Remove(path + ".000001"); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(t.Context(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	if s := verify(t, path, nil); s.Files != 2 || s.Records != 9 {
		t.Errorf("%+v", s)
	}
}

// A chain does not begin anew where the current file is missing, and closed files are there.
func TestCurrentFileIsMissed(t *testing.T) {
	path := rotatedChain(t, 5, nil)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f, err := audit.OpenFile(t.Context(), path, audit.FileOptions{})
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "audit.log.000002 is there") {
			t.Errorf("opened: %v", err)
		}
	}
	if _, err := audit.OpenFile(t.Context(), path+".000002", audit.FileOptions{}); err == nil ||
		!strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed file is opened: %v", err)
	}
}

// A file behind a symbolic link is rotated where it is, with its mode.
func TestRotationBehindALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit.log")
	if err := os.Symlink(filepath.Join("real", "log"), path); err != nil {
		t.Skip(err)
	}
	f := rotating(t, path, audit.FileOptions{})
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, r := range numbered(5) {
		if err := f.Write(t.Context(), []audit.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if s := verify(t, path, nil); s.Files != 3 {
		t.Errorf("%+v", s)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

// A disk that is full when the file is rotated loses nothing: records are refused, and go on when there is room.
func TestRotationOnAFailingDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	f := rotating(t, path, audit.FileOptions{Key: secret})
	if err := f.Write(t.Context(), numbered(3)); err != nil {
		t.Fatal(err)
	}
	heal := audit.Break(f, audit.DiskFault{Write: 100})
	for range 3 {
		if err := f.Write(t.Context(), numbered(1)); !errors.Is(err, audit.ErrDisk) {
			t.Errorf("writing: %v", err)
		}
		if s := verify(t, path, secret); s.Records != 3 || s.Files != 1 {
			t.Errorf("%+v", s)
		}
	}
	heal()
	if err := f.Write(t.Context(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	if s := verify(t, path, secret); s.Records != 6 || s.Files != 2 {
		t.Errorf("%+v", s)
	}
	if slices.Contains(names(t, path), "audit.log.next") {
		t.Error("a file is left")
	}
}

// Without a key anybody can write lines that fit. Those that close and open files must make sense all the same.
func TestMadeUpFiles(t *testing.T) {
	line := func(event string, members string) string {
		return `{"timestamp":"2026-11-21T08:30:00.000000000Z","event":"` + event + `","operation":""` + members + `}`
	}
	ran := line("OPERATION_ALLOWED", "")
	closed, opened := line("FILE_CLOSED", `,"file":1`), line("FILE_OPENED", `,"file":2`)
	other, far := line("FILE_CLOSED", `,"file":7`), line("FILE_OPENED", `,"file":7`)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string // empty: it verifies
	}{
		{"two files", []string{ran, closed, opened, ran}, ""},
		{"a record behind the end of a file", []string{ran, closed, ran}, "line 3: inserted: it stands behind the record"},
		{"a file opens before the one before is closed", []string{ran, opened}, "line 2: inserted: it opens a file"},
		{"a file is closed twice", []string{ran, closed, closed}, "line 3: inserted: it stands behind the record"},
		{"another file is closed", []string{ran, other}, "line 2: changed: it does not close file 1"},
		{"another file is opened", []string{ran, closed, far}, "line 3: changed: it does not open file 2"},
		{"no file is opened", []string{ran, closed, line("FILE_OPENED", "")}, "line 3: changed: "},
		{"the first file is opened", []string{line("FILE_OPENED", `,"file":1`), ran}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, prev := "", strings.Repeat("0", 64)
			for i, body := range tt.lines {
				var made string
				made, prev = link(body, i+1, prev)
				text += made
			}
			_, err := audit.Verify(strings.NewReader(text), audit.VerifyOptions{})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
