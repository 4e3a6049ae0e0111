package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/google/go-cmp/cmp"
)

// Every kind of tampering is found, in its place and by its name; keyed or not.
func TestVerifyFindsTampering(t *testing.T) {
	for _, key := range [][]byte{nil, secret} {
		chain := bytes.SplitAfter(written(t, 5, key), []byte("\n"))[:5]
		other := bytes.SplitAfter(written(t, 2, []byte("another key of 32 bytes or more!")), []byte("\n"))[:2]
		another := audit.Changed
		if key == nil {
			another = audit.WrongKey
		}
		pick := func(lines ...int) []byte {
			var b []byte
			for _, i := range lines {
				b = append(b, chain[i]...)
			}
			return b
		}
		whole := pick(0, 1, 2, 3, 4)
		for _, tt := range []struct {
			name  string
			text  []byte
			line  int
			fault audit.Fault
			at    uint64 // records before
		}{
			{
				"a value is changed", bytes.Replace(whole, []byte(`"request_id":"r2"`), []byte(`"request_id":"r9"`), 1), 3,
				audit.Changed, 2,
			},
			{"a digit of a hash is changed", flip(whole, len(chain[0])-10), 1, audit.Changed, 0},
			{
				"a hash is in capitals",
				bytes.Replace(whole, chain[1][len(chain[1])-67:], bytes.ToUpper(chain[1][len(chain[1])-67:]), 1), 2, audit.Changed,
				1,
			},
			{"a line is something else", slices.Concat(pick(0), []byte("hello\n"), pick(1, 2)), 2, audit.Changed, 1},
			{"a line is empty", slices.Concat(pick(0), []byte("\n"), pick(1, 2)), 2, audit.Changed, 1},
			{
				"a line is longer than 16 MiB", slices.Concat(pick(0), bytes.Repeat([]byte("x"), 1<<24), []byte("\n"), pick(1, 2)),
				2, audit.Changed, 1,
			},
			{"white space is added", bytes.Replace(whole, []byte("}\n"), []byte("} \n"), 1), 1, audit.Changed, 0},
			{
				"line breaks become those of another system", bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")), 1,
				audit.Changed, 0,
			},
			{"the first record is removed", pick(1, 2, 3, 4), 1, audit.Removed, 0},
			{"a record is removed", pick(0, 1, 3, 4), 3, audit.Removed, 2},
			{"records are removed", pick(0, 4), 2, audit.Removed, 1},
			{"two records change places", pick(0, 2, 1, 3, 4), 2, audit.Reordered, 1},
			{"the last becomes the first", pick(4, 0, 1, 2, 3), 1, audit.Reordered, 0},
			{"a record stands twice", pick(0, 1, 1, 2, 3, 4), 3, audit.Inserted, 2},
			{"an old record comes again", pick(0, 1, 2, 3, 4, 0), 6, audit.Inserted, 5},
			{"a record of another chain", slices.Concat(pick(0), other[1], pick(2, 3, 4)), 2, another, 1},
			{"the last line is torn", whole[:len(whole)-20], 5, audit.Torn, 4},
			{"the last line break is missing", whole[:len(whole)-1], 5, audit.Torn, 4},
			{"a torn line alone", whole[:5], 1, audit.Torn, 0},
			{"something is behind the last line", append(slices.Clone(whole), 0), 6, audit.Torn, 5},
		} {
			t.Run(fmt.Sprintf("%s, key %v", tt.name, key != nil), func(t *testing.T) {
				s, err := audit.Verify(bytes.NewReader(tt.text), audit.VerifyOptions{Key: key})
				var broken *audit.BrokenError
				if !errors.As(err, &broken) {
					t.Fatalf("not found: %+v, %v", s, err)
				}
				if broken.Line != tt.line || broken.Fault != tt.fault || s.Records != tt.at {
					t.Errorf("%v with %d records before, want line %d: %s with %d", err, s.Records, tt.line, tt.fault, tt.at)
				}
			})
		}
	}
}

// Without a key a whole line can be forged, but not one that fits in front of those that follow.
func TestVerifyFindsALineOfAnotherChain(t *testing.T) {
	chain := bytes.SplitAfter(written(t, 5, nil), []byte("\n"))[:5]
	path := t.TempDir() + "/other.jsonl"
	records := numbered(3)
	records[0].Reason = "another"
	if err := open(t, path, nil).Write(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	other := bytes.SplitAfter(read(t, path), []byte("\n"))
	for _, tt := range []struct {
		name string
		text []byte
		line int
	}{
		{"the first is replaced", slices.Concat(other[0], chain[1], chain[2]), 2},
		{"one in the middle is replaced", slices.Concat(chain[0], other[1], chain[2]), 2},
		{"one is put in front of its own number", slices.Concat(chain[0], other[1], chain[1], chain[2]), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := audit.Verify(bytes.NewReader(tt.text), audit.VerifyOptions{})
			var broken *audit.BrokenError
			if !errors.As(err, &broken) || broken.Line != tt.line || broken.Fault != audit.Inserted {
				t.Errorf("%v, want line %d: inserted", err, tt.line)
			}
		})
	}
}

// link makes a line as the documentation of the chain describes it, without the code under test.
func link(text string, seq any, prev string) (line, hash string) {
	body := strings.TrimSuffix(text, "}") + fmt.Sprintf(`,"seq":%v,"prev":"%s"`, seq, prev)
	before, err := hex.DecodeString(prev)
	if err != nil {
		panic(err)
	}
	hash = fmt.Sprintf("%x", sha256.Sum256(slices.Concat(before, []byte(body))))
	return body + `,"hash":"` + hash + "\"}\n", hash
}

// Other programs can write and verify chains: the documentation describes the format. A line that was made to fit,
// as can be done without a key, must still be a record.
func TestVerifyMadeUpChains(t *testing.T) {
	const record = `{"timestamp":"2026-11-21T08:30:00.000000000Z","event":"OPERATION_DENIED"}`
	zero := strings.Repeat("0", 64)
	first, hash := link(record, 1, zero)
	for _, tt := range []struct {
		name, text string
		seq        any
		want       string // empty: it verifies
	}{
		{"as it should be", record, 2, ""},
		{
			"members that look like those of the chain", strings.TrimSuffix(record, "}") + `,"seq":9,"prev":"x","hash":"y"}`, 2,
			"",
		},
		{"no JSON", strings.TrimSuffix(record, "}") + `,x}`, 2, "line 2: changed: it is no JSON"},
		{"no time", `{"event":"OPERATION_DENIED"}`, 2, "line 2: changed: it is not a line that this program writes"},
		{
			"another form of the time", strings.Replace(record, "000Z", "0+01:00", 1), 2,
			"line 2: changed: it is not a line that this program writes",
		},
		{"a number that skips", record, 4, "line 2: changed: it follows record 1 and calls itself 4"},
		{"a number that stays", record, 1, "line 2: changed: it follows record 1 and calls itself 1"},
		{"the number 0", record, 0, "line 2: changed: it is not a line that this program writes"},
		{"a number with a zero in front", record, "02", "line 2: changed: it is not a line that this program writes"},
		{
			"a number that is too great", record, "18446744073709551616",
			"line 2: changed: it is not a line that this program writes",
		},
		{"no number", record, "", "line 2: changed: it is not a line that this program writes"},
		{"a number with a sign", record, "+2", "line 2: changed: it is not a line that this program writes"},
		{"a negative number", record, -2, "line 2: changed: it is not a line that this program writes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			second, _ := link(tt.text, tt.seq, hash)
			s, err := audit.Verify(strings.NewReader(first+second), audit.VerifyOptions{})
			if got := fmt.Sprint(err); tt.want == "" && (err != nil || s.Records != 2) || tt.want != "" && got != tt.want {
				t.Errorf("%d records, %v; want %s", s.Records, err, tt.want)
			}
		})
	}
	r := numbered(1)[0]
	want, _ := link(string(r.AppendJSON(nil)), 1, zero)
	if diff := cmp.Diff(want, string(written(t, 1, nil))); diff != "" {
		t.Errorf("a File writes another format, -want +got:\n%s", diff)
	}
}

func flip(text []byte, at int) []byte {
	changed := slices.Clone(text)
	changed[at] ^= 1
	return changed
}

// There is no byte of a file, and no bit of a byte, that can be changed unseen; nor one that can be left out or
// doubled.
func TestVerifyFindsEveryByte(t *testing.T) {
	chain := written(t, 5, nil)
	found := func(what string, at int, text []byte) {
		if s, err := audit.Verify(bytes.NewReader(text), audit.VerifyOptions{}); err == nil {
			t.Errorf("byte %d %s unseen: %+v", at, what, s)
		}
	}
	for i := range chain {
		for bit := range 8 {
			changed := slices.Clone(chain)
			changed[i] ^= 1 << bit
			found("changed", i, changed)
		}
		found("left out", i, slices.Delete(slices.Clone(chain), i, i+1))
		found("doubled", i, slices.Insert(slices.Clone(chain), i, chain[i]))
	}
}

// An intact chain verifies, and the summary has the hash to store elsewhere.
func TestVerifySummary(t *testing.T) {
	records := numbered(5)
	for _, key := range [][]byte{nil, secret} {
		text := written(t, 5, key)
		lines := bytes.SplitAfter(text, []byte("\n"))
		got, err := audit.Verify(iotest.OneByteReader(bytes.NewReader(text)), audit.VerifyOptions{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		want := audit.Summary{Files: 1, Records: 5, First: records[0].Time, Last: records[4].Time, Head: hashOf(lines[4])}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	got, err := audit.Verify(strings.NewReader(""), audit.VerifyOptions{})
	if err != nil || got != (audit.Summary{Files: 1}) {
		t.Errorf("an empty file: %+v, %v", got, err)
	}
}

// hashOf is the hash in a line.
func hashOf(line []byte) string {
	i := bytes.LastIndex(line, []byte(`":"`)) + len(`":"`)
	return string(line[i : i+64])
}

// What was pinned elsewhere shows that the end is missing, and which key shows that the chain is somebody else's.
func TestVerifyAgainstWhatIsKnown(t *testing.T) {
	text := written(t, 5, secret)
	lines := bytes.SplitAfter(text, []byte("\n"))
	cut := bytes.Join(lines[:3], nil)
	for _, tt := range []struct {
		name  string
		text  []byte
		opts  audit.VerifyOptions
		fault audit.Fault // empty: whole
	}{
		{"the head is the last", text, audit.VerifyOptions{Key: secret, Head: hashOf(lines[4])}, ""},
		{
			"the file has grown since", text, audit.VerifyOptions{Key: secret, Head: strings.ToUpper(hashOf(lines[2])) + "\n"},
			"",
		},
		{"the head is cut off", cut, audit.VerifyOptions{Key: secret, Head: hashOf(lines[4])}, audit.CutOff},
		{"everything is cut off", nil, audit.VerifyOptions{Key: secret, Head: hashOf(lines[0])}, audit.CutOff},
		{"as many as there must be", text, audit.VerifyOptions{Key: secret, AtLeast: 5}, ""},
		{"fewer than there must be", cut, audit.VerifyOptions{Key: secret, AtLeast: 4}, audit.CutOff},
		{"cut off, and nothing is known", cut, audit.VerifyOptions{Key: secret}, ""},
		{"another key", text, audit.VerifyOptions{Key: []byte("another key of 32 bytes or more!")}, audit.Changed},
		{"no key", text, audit.VerifyOptions{}, audit.WrongKey},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := audit.Verify(bytes.NewReader(tt.text), tt.opts)
			var broken *audit.BrokenError
			if errors.As(err, &broken); tt.fault == "" && err != nil || tt.fault != "" &&
				(broken == nil || broken.Fault != tt.fault) {
				t.Errorf("%v, want %q", err, tt.fault)
			}
		})
	}
}

// What is wrong with the options, or with reading, is no break of the chain.
func TestVerifyFailsOtherwise(t *testing.T) {
	text := written(t, 2, nil)
	for _, tt := range []struct {
		name string
		r    io.Reader
		opts audit.VerifyOptions
		want string
	}{
		{"a short key", bytes.NewReader(text), audit.VerifyOptions{
			Key: []byte("short"),
		}, "the key has 5 bytes; give it at least 32 random ones"},
		{
			"no hash", bytes.NewReader(text), audit.VerifyOptions{Head: "12"},
			`the head "12" is not a hash of 64 hexadecimal digits`,
		},
		{
			"reading fails", io.MultiReader(bytes.NewReader(text), iotest.ErrReader(errors.New("the disk is gone"))),
			audit.VerifyOptions{}, "reading line 3: the disk is gone",
		},
		{
			"reading fails with something that only looks like the end",
			io.MultiReader(bytes.NewReader(text), iotest.ErrReader(fmt.Errorf("the line broke: %w", io.EOF))),
			audit.VerifyOptions{}, "reading line 3: the line broke: EOF",
		},
		{
			"reading fails while looking for a record that is missing",
			io.MultiReader(
				bytes.NewReader(text[bytes.IndexByte(text, '\n')+1:]), iotest.ErrReader(errors.New("the disk is gone")),
			),
			audit.VerifyOptions{}, "reading line 2: the disk is gone",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := audit.Verify(tt.r, tt.opts)
			var broken *audit.BrokenError
			if err == nil || err.Error() != tt.want || errors.As(err, &broken) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// Without the key nothing can be written that verifies but the chain itself and its beginnings, in one file or several.
func FuzzVerify(f *testing.F) {
	chain := written(f, 3, secret)
	plain := written(f, 3, nil)
	rotated := joined(f, rotatedChain(f, 5, secret))
	f.Add(chain)
	f.Add(plain)
	f.Add(rotated)
	_, second, _ := bytes.Cut(rotated, []byte("FILE_OPENED"))
	f.Add(append([]byte(`{"timestamp":"2026-11-21T08:30:02.000001500Z","event":"FILE_OPENED`), second...))
	f.Add(chain[:len(chain)-1])
	f.Add(bytes.Repeat([]byte(`{"timestamp":"","seq":1,"prev":"","hash":""}`+"\n"), 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := audit.Verify(bytes.NewReader(data), audit.VerifyOptions{Key: secret})
		if err == nil && !bytes.HasPrefix(chain, data) && !bytes.HasPrefix(rotated, data) {
			t.Errorf("forged: %q", data)
		}
		if lines := bytes.Count(data, []byte("\n")); s.Records > uint64(lines) {
			t.Errorf("%d records in %d lines", s.Records, lines)
		}
		if s, err := audit.Verify(bytes.NewReader(data), audit.VerifyOptions{}); err == nil && s.Records > 0 && s.Head == "" {
			t.Errorf("records without a head: %+v", s)
		}
	})
}

// Whatever is in a file that is opened, a chain that verifies goes on and still does; nothing else is made one.
func FuzzOpenFile(f *testing.F) {
	text := written(f, 3, nil)
	f.Add(text)
	f.Add(text[:len(text)-20])
	f.Add(text[:10])
	f.Add(written(f, 2, secret))
	f.Add(joined(f, rotatedChain(f, 5, nil)))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		before, broken := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
		file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{MaxSize: 1 << 20})
		if err != nil {
			if broken == nil {
				t.Errorf("a chain that verifies is not opened: %v", err)
			}
			return
		}
		defer file.Close()
		if err := file.Write(t.Context(), numbered(1)); err != nil {
			t.Fatal(err)
		}
		after, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
		if broken == nil && (err != nil || after.Records <= before.Records) {
			t.Errorf("%d records before, %d after: %v", before.Records, after.Records, err)
		}
		var was *audit.BrokenError
		if err == nil && broken != nil && (!errors.As(broken, &was) || was.Fault != audit.Torn) {
			t.Errorf("a broken chain verifies: %v", broken)
		}
	})
}

// joined returns the text of rotated files, one after the other.
func joined(t testing.TB, path string) []byte {
	t.Helper()
	closed, err := filepath.Glob(path + ".[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, name := range append(closed, path) {
		text = append(text, read(t, name)...)
	}
	return text
}

// endless is a line without an end, and counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// A line that does not end takes bounded memory.
func TestVerifyALineWithoutAnEnd(t *testing.T) {
	r := new(endless)
	_, err := audit.Verify(r, audit.VerifyOptions{})
	if err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") || r.read > 17<<20 {
		t.Errorf("%d bytes were read: %v", r.read, err)
	}
}

func BenchmarkVerify(b *testing.B) {
	text := written(b, 1000, secret)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audit.Verify(bytes.NewReader(text), audit.VerifyOptions{Key: secret}); err != nil {
			b.Fatal(err)
		}
	}
}
