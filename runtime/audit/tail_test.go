package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/google/go-cmp/cmp"
)

// lineTold is a line of a tail as tests compare it: the request that it is of, and whether it is verified.
func lineTold(t *testing.T, l audit.Line) string {
	t.Helper()
	var r struct {
		Request string `json:"request_id"`
		Event   string
	}
	if json.Unmarshal(l.JSON, &r) != nil {
		r.Request = string(l.JSON)
	}
	if r.Request == "" {
		r.Request = r.Event
	}
	if !l.Verified {
		return r.Request + "?"
	}
	return r.Request
}

func linesTold(t *testing.T, lines []audit.Line) (all []string) {
	t.Helper()
	for _, l := range lines {
		all = append(all, lineTold(t, l))
	}
	return all
}

// requests leaves out the records about files.
func requests(l audit.Line) bool { return !bytes.Contains(l.JSON, []byte(`"event":"FILE_`)) }

// The last records come from the file and from those that were closed before it, and what Verdict says is what
// VerifyFile does.
func TestTail(t *testing.T) {
	path := rotatedChain(t, 7, secret)
	for last, want := range map[int][]string{
		1: {"r6"}, 3: {"r4", "r5", "r6"}, 100: {"r0", "r1", "r2", "r3", "r4", "r5", "r6"},
	} {
		opts := audit.TailOptions{VerifyOptions: audit.VerifyOptions{Key: secret}, Last: last, Match: requests}
		tail, err := audit.OpenTail(t.Context(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer tail.Close()
		if diff := cmp.Diff(want, linesTold(t, tail.Last())); diff != "" {
			t.Errorf("the last %d: %s", last, diff)
		}
		summary, broken := tail.Verdict()
		if diff := cmp.Diff(verify(t, path, secret), summary); diff != "" || broken != nil {
			t.Errorf("%s, %v", diff, broken)
		}
	}
	if _, err := audit.OpenTail(t.Context(), filepath.Join(t.TempDir(), "none"), audit.TailOptions{Last: 1}); !errors.Is(
		err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Behind a fault no record is verified, whatever it is and in whichever file, and none is left out.
func TestTailBehindFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(text []byte) []byte
		want  []string
	}{
		"a changed record": {
			func(text []byte) []byte { return bytes.Replace(text, []byte(`"r2"`), []byte(`"rX"`), 1) },
			[]string{"r0", "r1", "rX?", "r3?", "r4?"},
		},
		"a removed record": {
			func(text []byte) []byte {
				lines := bytes.SplitAfter(text, []byte("\n"))
				return bytes.Join(append(lines[:1:1], lines[2:]...), nil)
			},
			[]string{"r0", "r2?", "r3?", "r4?"},
		},
		"a line that is none": {
			func(text []byte) []byte { return append([]byte("nothing\n"), text...) },
			[]string{"nothing?", "r0?", "r1?", "r2?", "r3?", "r4?"},
		},
		"a write that did not finish": {
			func(text []byte) []byte { return text[:len(text)-10] }, []string{"r0", "r1", "r2", "r3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.log")
			if err := os.WriteFile(path, tt.spoil(written(t, 5, nil)), 0o600); err != nil {
				t.Fatal(err)
			}
			tail, err := audit.OpenTail(t.Context(), path, audit.TailOptions{Last: 10})
			if err != nil {
				t.Fatal(err)
			}
			defer tail.Close()
			if diff := cmp.Diff(tt.want, linesTold(t, tail.Last())); diff != "" {
				t.Error(diff)
			}
			_, want := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
			if _, broken := tail.Verdict(); broken == nil || broken.Error() != want.Error() {
				t.Errorf("%v, want %v", broken, want)
			}
		})
	}
	path := rotatedChain(t, 7, nil)
	closed := path + ".000002"
	text := bytes.Replace(read(t, closed), []byte(`"r3"`), []byte(`"rX"`), 1)
	if err := os.WriteFile(closed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	tail, err := audit.OpenTail(t.Context(), path, audit.TailOptions{Last: 10, Match: requests})
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	want := []string{"r0", "r1", "r2", "rX?", "r4?", "r5?", "r6?"}
	if diff := cmp.Diff(want, linesTold(t, tail.Last())); diff != "" {
		t.Error(diff)
	}
}

// What is added is passed on once each and in order, also through rotations, until the chain is broken; from there on
// nothing is verified.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "audit.log")
		f := rotating(t, path, audit.FileOptions{})
		records := numbered(30)
		write := func(records ...audit.Record) {
			t.Helper()
			for _, r := range records {
				if err := f.Write(t.Context(), []audit.Record{r}); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(records[:3]...)
		tail, err := audit.OpenTail(t.Context(), path, audit.TailOptions{Last: 1, Match: requests})
		if err != nil {
			t.Fatal(err)
		}
		defer tail.Close()
		ctx, stop := context.WithCancel(t.Context())
		var got []string
		ended := make(chan error)
		go func() {
			ended <- tail.Follow(ctx, func(l audit.Line) error {
				got = append(got, lineTold(t, l))
				return nil
			})
		}()
		var want []string
		for i := 3; i < len(records); {
			n := min(1+i%6, len(records)-i) // up to three files between two looks
			write(records[i : i+n]...)
			for range n {
				want = append(want, fmt.Sprint("r", i))
				i++
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}
		if _, broken := tail.Verdict(); broken != nil {
			t.Errorf("the chain is whole: %v", broken)
		}
		forged, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer forged.Close()
		if _, err := forged.WriteString("{\"request_id\":\"forged\"}\n{\"request_id\":\"again\"}\n{\"request"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(append(want, "forged?", "again?"), got); diff != "" {
			t.Error(diff)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		var fault *audit.BrokenError
		if _, broken := tail.Verdict(); !errors.As(broken, &fault) || fault.Fault != audit.Changed || fault.File == "" {
			t.Errorf("the chain is broken: %v", broken)
		}
	})
}

// A file that was closed is read, and nothing follows it.
func TestTailOfAClosedFile(t *testing.T) {
	path := rotatedChain(t, 7, nil)
	tail, err := audit.OpenTail(t.Context(), path+".000002", audit.TailOptions{Last: 10, Match: requests})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"r2", "r3"}, linesTold(t, tail.Last())); diff != "" {
		t.Error(diff)
	}
	if err := tail.Follow(t.Context(), nil); err == nil {
		t.Error("it is followed")
	}
	if _, err := audit.OpenTail(t.Context(), path+".000009", audit.TailOptions{Last: 1}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
