package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		name string
		path func(t *testing.T) string
		want string
	}{
		{"no path", func(*testing.T) string { return "" }, "a path is missing"},
		{"memory", func(*testing.T) string { return ":memory:" }, "leave the location out to keep state in memory"},
		{"a URI", func(*testing.T) string { return "file:state.db" }, "write the path of the file alone"},
		{"a folder", func(t *testing.T) string { return t.TempDir() }, "it is a folder: name a file"},
		{"no folder", func(t *testing.T) string { return filepath.Join(t.TempDir(), "missing", "state.db") },
			"is missing: make it first"},
		{"a file for a folder", func(t *testing.T) string { return filepath.Join(file(t, "text"), "state.db") },
			"not a directory"},
		{"a text", func(t *testing.T) string { return file(t, strings.Repeat("text ", 1000)) }, "not a database, or damaged"},
		{"a short text", func(t *testing.T) string { return file(t, "text") }, "not a database, or damaged"},
		{"another program's database", func(t *testing.T) string {
			return database(t, "CREATE TABLE todos (id INTEGER PRIMARY KEY)")
		}, "the database of another program"},
		{"a marked database of another program", func(t *testing.T) string {
			return database(t, "PRAGMA application_id = 7; PRAGMA user_version = 1")
		}, "the database of another program"},
		{"a later release", func(t *testing.T) string {
			return database(t, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, release+1))
		}, "was written by a later release"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := test.path(t)
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), path)
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant: %s", err, test.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestDriverTakesPaths(t *testing.T) {
	driver := Drivers()[0]
	if driver.Scheme != "" {
		t.Errorf("scheme %q", driver.Scheme)
	}
	s, err := driver.Open(t.Context(), filepath.Join(t.TempDir(), "a state?#%20'é.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err := driver.Open(t.Context(), t.TempDir()); err == nil || s != nil {
		t.Errorf("a folder: %v, %v", s, err)
	}
}

func TestAnEmptyFileIsANewStore(t *testing.T) {
	s := open(t, file(t, ""))
	if _, err := s.Put(t.Context(), "a", nil, 0, 0); err != nil {
		t.Error(err)
	}
}

// On a full disk, changes are refused and what was stored stays. Changes are accepted when there is space again.
func TestFullDisk(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	pages := func(most int) {
		w := <-s.writer
		for _, c := range []*connection{w.durable, w.quick} {
			var got int
			if err := c.queryRow(fmt.Sprintf("PRAGMA max_page_count = %d", most)).Scan(&got); err != nil {
				t.Fatal(err)
			}
		}
		s.writer <- w
	}
	pages(20)
	var kept []string
	var failure error
	for i := 0; failure == nil; i++ {
		key := fmt.Sprint(i)
		if _, failure = s.Put(t.Context(), key, make([]byte, 5000), 0, 0); failure == nil {
			kept = append(kept, key)
		}
	}
	if !errors.Is(failure, store.ErrFull) || errors.Is(failure, store.ErrConflict) {
		t.Errorf("a put: %v", failure)
	}
	var counters int
	for failure = nil; failure == nil; counters++ {
		_, failure = s.Take(t.Context(), []store.Claim{{Key: strings.Repeat("c", 500) + fmt.Sprint(counters), N: 1,
			Window: time.Minute}})
	}
	if !errors.Is(failure, store.ErrFull) {
		t.Errorf("a claim: %v", failure)
	}
	entries, err := s.List(t.Context(), "", "", 1000)
	if err != nil || len(entries) != len(kept) {
		t.Errorf("%d entries, %v; %d were kept", len(entries), err, len(kept))
	}
	pages(1000)
	if _, err := s.Put(t.Context(), fmt.Sprint(len(kept)), make([]byte, 5000), 0, 0); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// Damage is an error, never an absent token or an empty counter.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	fill := open(t, path)
	for i := range 50 {
		if _, err := fill.Put(t.Context(), fmt.Sprintf("key/%02d", i), make([]byte, 1000), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	claim := store.Claim{Key: "quota", N: 1, Limit: 1, Window: time.Hour}
	if _, err := fill.Take(t.Context(), []store.Claim{claim}); err != nil {
		t.Fatal(err)
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(text []byte) []byte{
		"every page but the first": func(text []byte) []byte {
			for i := 4096; i < len(text); i++ {
				text[i] = 0xaa
			}
			return text
		},
		"all of it": func(text []byte) []byte { return bytes.Repeat([]byte{0xaa}, len(text)) },
		"cut off":   func(text []byte) []byte { return text[:2*4096+100] },
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, string(damage(bytes.Clone(whole))))
			s, err := Open(t.Context(), path)
			if err != nil {
				if !strings.Contains(err.Error(), "damaged") {
					t.Error(err)
				}
				return
			}
			defer s.Close()
			_, get := s.Get(t.Context(), "key/30")
			_, list := s.List(t.Context(), "key/", "", 100)
			_, put := s.Put(t.Context(), "key/30", nil, 0, 0)
			_, take := s.Take(t.Context(), []store.Claim{claim})
			for what, err := range map[string]error{"get": get, "list": list, "put": put, "take": take,
				"delete": s.Delete(t.Context(), "key/30", 31)} {
				if err == nil || errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "damaged") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	t.Run("a counter", func(t *testing.T) {
		s := open(t, file(t, string(whole)))
		alter(t, s, "UPDATE counters SET state = x'02'")
		if counts, err := s.Take(t.Context(), []store.Claim{claim}); err == nil {
			t.Errorf("%+v", counts)
		}
	})
}

// Changes to a file that was removed or replaced are refused: other processes would not see them.
func TestFileThatWasReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	version, err := s.Put(t.Context(), "a", nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"", "-wal", "-shm"} {
		os.Remove(path + what)
	}
	check := func(what string) {
		_, put := s.Put(t.Context(), "a", nil, version, 0)
		_, take := s.Take(t.Context(), []store.Claim{{Key: "c", N: 1, Window: time.Hour}})
		_, get := s.Get(t.Context(), "a") // on a connection that is yet to be made
		for name, err := range map[string]error{"put": put, "take": take, "get": get,
			"delete": s.Delete(t.Context(), "a", version)} {
			if !errors.Is(err, errMissing) {
				t.Errorf("%s, %s: %v", what, name, err)
			}
		}
	}
	check("removed")
	open(t, path)
	check("replaced")
}

func TestManyOpenANewFileTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	intact(t, path)
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func database(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	return path
}

// alter changes the file behind the store's back.
func alter(t *testing.T, s *Store, statement string, args ...any) {
	t.Helper()
	if _, err := s.db.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}
