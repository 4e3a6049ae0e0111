package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
)

// typing is a terminal on which approve is typed.
type typing struct {
	io.Reader
	io.Writer
}

func (typing) Close() error { return nil }

// operate runs the subcommand on the state, and returns its exit code and what it printed.
func operate(t *testing.T, options Options, args ...string) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	options.Name = "notes"
	env := environment{
		stdin: strings.NewReader(""), stdout: &out, stderr: &out, lookup: lookup(nil),
		terminal: func() (io.ReadWriteCloser, error) { return typing{strings.NewReader("approve\n"), &out}, nil },
	}
	code = env.run(t.Context(), nil, options, append([]string{"operator"}, args...))
	return code, out.String()
}

var itemID = regexp.MustCompile(`ask_[A-Z2-7]+`)

// F61: a request of an agent whose client cannot ask waits, a person approves it in another process with the same state
// and keys, and it runs. Without the keys nobody can, and who lists is told so.
func TestOperator(t *testing.T) {
	secret, other := filepath.Join(t.TempDir(), "key"), filepath.Join(t.TempDir(), "other")
	for i, path := range []string{secret, other} {
		if err := os.WriteFile(path, []byte(strings.Repeat(string(rune('k'+i)), 40)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const unread = "1 entry of the inbox cannot be read: it was written with another state key or with none, or by a " +
		"later version, or changed"
	for name, flags := range map[string][]string{"plain": nil, "signed": {"-state-key", secret}} {
		t.Run(name, func(t *testing.T) {
			state := new(shared)
			options := Options{Stores: []store.Driver{state.driver()}, Operator: operator.Command{}}
			where := append([]string{"-state", "test://"}, flags...)
			c := run(t, options, append(where, "-human-only")...)
			defer c.end(t)
			id := itemID.FindString(c.remove(t, ""))
			if id == "" {
				t.Fatal("nothing waits")
			}
			if _, printed := operate(t, options, append([]string{"list"}, where...)...); !strings.Contains(printed, id) {
				t.Errorf("list prints %s", printed)
			}
			if flags != nil {
				code, printed := operate(t, options, "approve", id, "-state", "test://")
				if code != 2 || !strings.Contains(printed, "no such item") || !strings.Contains(printed, unread) {
					t.Errorf("without the key: code %d, %s", code, printed)
				}
				for name, key := range map[string][]string{"no key": nil, "another key": {"-state-key", other}} {
					code, printed := operate(t, options, append([]string{"list", "-state", "test://"}, key...)...)
					if code != exitError || printed != "notes operator: "+unread+"\n" {
						t.Errorf("%s: code %d, %s", name, code, printed)
					}
				}
			}
			code, printed := operate(t, options, append([]string{"approve", id, "-reason", "fine"}, where...)...)
			if code != 0 || !strings.Contains(printed, "is approved") {
				t.Errorf("code %d: %s", code, printed)
			}
			var ran struct{ Success bool }
			if err := json.Unmarshal([]byte(c.remove(t, "")), &ran); err != nil || !ran.Success {
				t.Errorf("%+v, %v", ran, err)
			}
		})
	}
}

// What is wrong with a command line, or cannot be opened, is said, with exit code 3.
func TestOperatorUsage(t *testing.T) {
	state := new(shared)
	broken := store.Driver{Scheme: "broken", Open: func(context.Context, string) (store.Store, error) {
		return nil, errors.New("the disk is on fire")
	}}
	options := Options{Stores: []store.Driver{state.driver(), broken}, Operator: operator.Command{}}
	nowhere := filepath.Join(t.TempDir(), "nowhere", "file")
	for want, args := range map[string][]string{
		"memory is of one process":            {"list"},
		"flag provided but not defined: -sta": {"list", "-sta", "x"},
		"say what to do":                      {"-state", "test://"},
		`"aprove" is none of these`:           {"aprove", "ask_X", "-state", "test://"},
		`"bogus" is none of these`:            {"bogus"},
		"notes operator list  ":               {"bogus", "-state", nowhere},
		"approve needs the ID of an item":     {"approve", "-state", "test://"},
		"approve takes one ID":                {"approve", "ask_X", "ask_Y"},
		"list takes no other words":           {"list", "all", "-state", "test://"},
		"there is no file":                    {"list", "-state", nowhere},
		"cannot keep its state in":            {"list", "-state", "other://"},
		"the disk is on fire":                 {"list", "-state", "broken://"},
		"-audit":                              {"list", "-state", "test://", "-audit", nowhere},
		"-state-key":                          {"list", "-state", "test://", "-state-key", nowhere},
	} {
		if code, printed := operate(t, options, args...); code != exitUsage || !strings.Contains(printed, want) {
			t.Errorf("%q: code %d, %s", args, code, printed)
		}
	}
	if code, printed := operate(t, options, "-h"); code != 0 || !strings.Contains(printed, "approve ID") {
		t.Errorf("-h: code %d, %s", code, printed)
	}
	var help bytes.Buffer
	options.Name = "notes"
	env := environment{stdout: &help, stderr: &help, lookup: lookup(nil)}
	if code := env.run(t.Context(), nil, options, []string{"-h"}); code != 0 ||
		!strings.Contains(help.String(), "notes operator -h") {
		t.Errorf("help of the adapter: code %d, %s", code, help.String())
	}
	without := Options{Stores: options.Stores}
	code, printed := operate(t, without, "list")
	if code != exitUsage || !strings.Contains(printed, "unexpected argument") {
		t.Errorf("without the option: code %d, %s", code, printed)
	}
}

// Flags before and behind the subcommand mean the same, and those behind it win.
func TestFlagsBehindTheSubcommand(t *testing.T) {
	set := flag.NewFlagSet("notes", flag.ContinueOnError)
	Flags(set)
	args := []string{"-state", "a", "-audit", "b", "operator", "deny", "-state", "c", "ask_X", "-json"}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	var flags operator.Flags
	words, err := behind(set, flags.Add)
	if err != nil || strings.Join(words, " ") != "deny ask_X" || !flags.JSON ||
		set.Lookup("state").Value.String() != "c" || set.Lookup("audit").Value.String() != "b" {
		t.Errorf("%+v, %q, %v", flags, words, err)
	}
	set = flag.NewFlagSet("notes", flag.ContinueOnError)
	Flags(set)
	if err := set.Parse([]string{"operator", "-h"}); err != nil {
		t.Fatal(err)
	}
	if _, err := behind(set, flags.Add); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

// A service that demands that people confirm is not overridden, and state in memory is warned of.
func TestHumanOnly(t *testing.T) {
	options := Options{Operator: operator.Command{}}
	c := run(t, options, "-human-only")
	defer c.end(t)
	if got := c.remove(t, ""); !strings.Contains(got, "has to start it with -state") {
		t.Errorf("state in memory: %s", got)
	}
	if !strings.Contains(c.stderr.String(), "the state is in memory") {
		t.Errorf("the log: %s", c.stderr)
	}
	options.Adapter.Confirmation.HumanOnly = true
	strict := run(t, options, "-human-only=false")
	defer strict.end(t)
	if got := strict.remove(t, ""); strings.Contains(got, "confirmation_token") {
		t.Errorf("it is overridden: %s", got)
	}
}
