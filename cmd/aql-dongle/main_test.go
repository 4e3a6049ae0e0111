package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
	"github.com/aqltag/aqltag/runtime/verify"
)

// asDongle has the test binary be the command.
const asDongle = "AQL_DONGLE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asDongle) != "" {
		main()
	}
	os.Exit(m.Run())
}

// The exit codes that clients go by: they refuse a tool use with the second one alone.
const (
	exitPassed  = 0
	exitRefused = 2
)

// rules are the policy of most tests.
const rules = `version: 1
rules: []
loop:
  max_steps: 9
  deny: ["rm -rf*"]
  requires_approval: ["git push*"]
  auto_approve: ["Read file_path: *"]
  challenge: {channel: same_user}
`

// dongle is a state, and the processes that share it.
type dongle struct {
	*testing.T
	dir   string
	flags []string
}

func newDongle(t *testing.T, rules string) *dongle {
	t.Helper()
	d := &dongle{T: t, dir: t.TempDir()}
	policy := filepath.Join(d.dir, "loop.yaml")
	if err := os.WriteFile(policy, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	d.flags = []string{"-state", filepath.Join(d.dir, "dongle.db"), "-policy", policy}
	return d
}

// command is a process of the dongle.
func (d *dongle) command(args ...string) *exec.Cmd {
	d.Helper()
	c := exec.CommandContext(d.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), asDongle+"=1")
	c.Dir = d.dir
	return c
}

// result is what came of a process.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the dongle, and again as long as its state is busy, as it is on a busy machine.
func (d *dongle) run(stdin string, args ...string) result {
	d.Helper()
	for {
		c := d.command(args...)
		var stdout, stderr bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &stdout, &stderr
		err := c.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			d.Fatal(err)
		}
		said := stderr.String()
		if !strings.Contains(said, "the loop was asked too often") && !strings.Contains(said, "the loop is busy") {
			return result{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
		}
	}
}

// hookArgs are those of the hook, as clients are configured, but that it has time on a busy machine, too.
func (d *dongle) hookArgs(more ...string) []string {
	return slices.Concat([]string{"hook", "-agent", "claude", "-hook-timeout", "1h"}, d.flags, more)
}

// bash is the message of a client before a command is run.
func bash(command, id string) string {
	text, _ := json.Marshal(map[string]any{
		"session_id": "0a1b", "cwd": "/home/ann", "permission_mode": "default", "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_input": map[string]any{"command": command, "description": "As asked"}, "tool_use_id": id,
	})
	return string(text)
}

// passes and refuses judge a tool use. What agents are told has nothing of the policy, of places and of Go in it.
func (d *dongle) passes(message string) {
	d.Helper()
	if r := d.run(message, d.hookArgs()...); r != (result{exitPassed, "{}\n", ""}) {
		d.Fatalf("%s does not pass: %+v", message, r)
	}
}

func (d *dongle) refuses(message, why string, more ...string) (item string) {
	d.Helper()
	r := d.run(message, d.hookArgs(more...)...)
	d.refused(r, why)
	return itemID.FindString(r.stderr)
}

func (d *dongle) refused(r result, why string) {
	d.Helper()
	if r.code != exitRefused || r.stdout != "" || !strings.Contains(r.stderr, why) {
		d.Fatalf("it is not refused because of %q: %+v", why, r)
	}
	for _, secret := range []string{d.dir, "rm -rf*", "git push*", "deny pattern", "goroutine", ".go:", "sqlite"} {
		if strings.Contains(r.stderr, secret) {
			d.Errorf("the agent is told %q: %s", secret, r.stderr)
		}
	}
}

var itemID = regexp.MustCompile(`ask_[A-Z2-7]+`)

// people opens what people see.
func (d *dongle) people() (approve.Inbox, *verify.Box, store.Store) {
	d.Helper()
	state, err := sqlite.Open(d.Context(), filepath.Join(d.dir, "dongle.db"))
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = state.Close() })
	box, err := verify.New(verify.Options{Store: state, Now: time.Now})
	if err != nil {
		d.Fatal(err)
	}
	return box.Inbox(approve.New(state)), box, state
}

var olga = identity.Caller{Subject: "olga", Issuer: "test"}

// vote has a person decide about an item.
func (d *dongle) vote(id string, approves bool) {
	d.Helper()
	inbox, _, state := d.people()
	defer state.Close()
	vote := approve.Vote{By: olga, Channel: "test", Approve: approves, Reason: "not on a Friday", At: time.Now()}
	if _, err := inbox.Vote(d.Context(), id, vote); err != nil {
		d.Fatalf("voting about %q: %v", id, err)
	}
}

// start has a person approve of the agent.
func (d *dongle) start() {
	d.Helper()
	d.vote(d.refuses(bash("ls", "start"), "approve of the start of agent 'claude'"), true)
	d.passes(bash("ls", "started"))
}

// waiting returns the ids of the open items of a kind.
func (d *dongle) waiting(kind approve.Kind) (ids []string) {
	d.Helper()
	inbox, _, state := d.people()
	defer state.Close()
	items, err := inbox.List(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	for _, item := range items {
		if item.Kind == kind && item.StateAt(time.Now()) == approve.Open {
			ids = append(ids, item.ID)
		}
	}
	return ids
}
