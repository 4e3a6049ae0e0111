package state

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/desktop"
	"github.com/aqltag/aqltag/runtime/notify/ntfy"
	"github.com/aqltag/aqltag/runtime/notify/webhook"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/aqltag/aqltag/runtime/store/postgres"
	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
	"github.com/aqltag/aqltag/runtime/verify"
)

// service is the program of a service without operations, which people run with the subcommand operator.
func service() error {
	serve.Main(gen.NewRegistry(nil, nil), serve.Options{
		Name: "things", Operator: operator.Command{},
		Notify: notify.Teller{Drivers: []notify.Driver{desktop.Driver(), webhook.Driver(), ntfy.Driver()}},
		Adapter: aql.Options{
			StateTimeout: patience, Loop: &aql.Loop{Channels: []verify.Channel{verify.Terminal(verify.SameUser)}},
		},
		Stores: slices.Concat(sqlite.Drivers(), redis.Drivers(), postgres.Drivers()),
	})
	return nil
}

var codeOnScreen = regexp.MustCompile(`code +([0-9A-Z-]{31})\r?\n`)

// REQ-OV-03: a code is on the terminal of the person who asked for it, and in no other byte that processes leave behind
// or show: not in the state, the audit file, logs at debug, pipes, arguments or environments. Nor is the passphrase.
func TestCodesAreOnTheTerminalAlone(t *testing.T) {
	const passphrase = "correct horse battery"
	dir := t.TempDir()
	location, records := filepath.Join(dir, "state.db"), filepath.Join(dir, "audit.log")
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	file, err := audit.OpenFile(t.Context(), records, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log := audit.New(audit.Options{Sinks: []audit.Sink{file, audit.Slog(logger)}, Wait: true, Logger: logger})
	box, err := verify.New(verify.Options{Store: state, Adapter: "things", Audit: log, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	caller := aql.Caller{Subject: "ann", Issuer: "test"}
	var seen strings.Builder // by the agent, and by others on the machine
	at := func(words ...string) *typist {
		flags := []string{"-log-level", "debug", "-state", location, "-audit", records, "operator"}
		return startTyping(t, append(flags, words...)...)
	}

	chooses := at("passphrase")
	chooses.types(t, "New passphrase, of 12 characters or more: ", 1, passphrase)
	chooses.types(t, "The same once more: ", 1, passphrase)
	chooses.ends(t)
	seen.WriteString(chooses.sees() + chooses.stdout.String() + chooses.stderr.String())

	var codes []string
	id, err := box.Open(t.Context(), verify.Subject{Caller: caller, Agent: "release_bot", Block: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, right := range []bool{false, true} {
		looks := at("show-code", id.String())
		soon(t, "the prompt", func() bool { return strings.Contains(looks.sees(), "Passphrase of ") })
		seen.WriteString(looks.traces(t))
		looks.types(t, "Passphrase of ", 1, passphrase)
		looks.ends(t)
		seen.WriteString(looks.stdout.String() + looks.stderr.String())
		screen := looks.sees()
		shown := codeOnScreen.FindStringSubmatch(screen)
		if shown == nil || strings.Contains(screen, passphrase) {
			t.Fatalf("the terminal shows %q", screen)
		}
		codes = append(codes, shown[1])
		typed := shown[1]
		if !right {
			typed = strings.Repeat("0", 26)
		}
		result, err := box.Verify(t.Context(), caller, id.String(), typed)
		fmt.Fprintf(&seen, "%+v %v %#v\n", result, err, err)
		if (err == nil) != right {
			t.Fatalf("a code is right: %v, and ends with %v", right, err)
		}
		holds, err := box.Holds(t.Context(), caller)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&seen, "%+v %#v\n", holds, holds)
		for _, h := range holds {
			id = h.Challenge
		}
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen.Write(logged.Bytes())
	addFiles(t, &seen, dir)
	findNone(t, seen.String(), append(codes, passphrase),
		"challenge_shown", "challenge_verified", "challenge_failed", "release_bot", "ann")
}

// addFiles adds all files of a folder.
func addFiles(t *testing.T, to *strings.Builder, dir string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		to.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// findNone fails if a text has a secret, in one of many forms, or lacks what must be in it, in small letters.
func findNone(t *testing.T, text string, secrets []string, wants ...string) {
	t.Helper()
	text = strings.ToLower(text)
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s is nowhere: what is searched is not what there is", want)
		}
	}
	for _, secret := range secrets {
		plain := strings.ReplaceAll(secret, "-", "")
		for _, form := range []string{
			secret, plain, hex.EncodeToString([]byte(plain)), base64.RawStdEncoding.EncodeToString([]byte(plain))[:24],
			base32.StdEncoding.EncodeToString([]byte(plain))[:32], fmt.Sprintf("%v", []byte(plain[:8])),
		} {
			if strings.Contains(text, strings.ToLower(strings.Trim(form, "[]"))) {
				t.Errorf("%s is seen as %s", secret, form)
			}
		}
	}
}
