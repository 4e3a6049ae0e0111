package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
)

// REQ-SL-13: no tool use passes before a person has approved of the agent. What needs a person is refused, and passes
// once when that person approves, in the same words.
func TestHookHasPeopleDecide(t *testing.T) {
	d := newDongle(t, rules)
	d.start()
	push := func(id string) string { return bash("git push origin main", id) }
	item := d.refuses(push("1"), "a person has to approve of it first")
	if again := d.refuses(push("2"), "a person has to approve of it first"); again != item {
		t.Errorf("people are asked twice: %s and %s", item, again)
	}
	for _, other := range []string{"ls", "rm -rf /"} {
		if named := d.refuses(bash(other, "3"), "something else waits for a person first"); named != item {
			t.Errorf("another tool use waits for %q, not for %q", named, item)
		}
	}
	d.vote(item, true)
	d.passes(push("4"))
	second := d.refuses(push("5"), "a person has to approve of it first")
	if second == item {
		t.Error("the approval is good for another tool use")
	}
	d.vote(second, false)
	d.refuses(push("6"), "a person has refused it, because: not on a Friday")
	d.passes(bash("ls", "7"))
}

// Tool uses at the same time start the agent once, and use up one approval: nobody is asked for a start that is not
// needed, which would let the agent start another time.
func TestHooksStartOneAgent(t *testing.T) {
	d := newDongle(t, rules)
	item := d.refuses(bash("ls", "first"), "a person has to approve of the start of agent 'claude' first")
	var all sync.WaitGroup
	at := func(n int, judge func(id string)) {
		for i := range n {
			all.Go(func() { judge(fmt.Sprint(i)) })
		}
		all.Wait()
	}
	at(4, func(id string) {
		if r := d.run(bash("ls", "w"+id), d.hookArgs()...); itemID.FindString(r.stderr) != item {
			t.Errorf("it waits for another start than %s: %+v", item, r)
		}
	})
	d.vote(item, true)
	at(8, func(id string) {
		if r := d.run(bash("ls", id), d.hookArgs()...); r.code != exitPassed {
			t.Errorf("it does not pass: %+v", r)
		}
	})
	if open := d.waiting(approve.Confirmation); len(open) > 0 {
		t.Errorf("people are asked again: %q", open)
	}
}

// Whoever denies the start of an agent is asked no more, and the agent is told why.
func TestHookTellsThatTheStartIsDenied(t *testing.T) {
	d := newDongle(t, rules)
	d.vote(d.refuses(bash("ls", "1"), "a person has to approve of the start of agent 'claude' first"), false)
	for _, id := range []string{"2", "3"} {
		item := d.refuses(bash("ls", id), "a person has refused the start of agent 'claude', because: not on a Friday")
		if item != "" {
			t.Errorf("the agent is told to have %s approved", item)
		}
	}
	if open := d.waiting(approve.Confirmation); len(open) > 0 {
		t.Errorf("people are asked again: %q", open)
	}
}

// An approval is good for the tool use that people saw, and for no other one that reads like it.
func TestHookTellsToolUsesApart(t *testing.T) {
	d := newDongle(t, rules)
	d.start()
	use := func(input string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + input + `}`
	}
	d.vote(d.refuses(use(`{"command":"git push","timeout":1}`), "a person has to approve"), true)
	for _, other := range []string{
		`{"command":"git push","timeout":"1"}`, `{"command":"git push timeout: 1"}`, `{"command":"git push","timeout":2}`,
		`{"command":"git push ","timeout":1}`,
	} {
		d.vote(d.refuses(use(other), "a person has to approve"), false)
	}
	d.passes(use(` {"timeout": 1.0, "command": "git\u0020push"}`)) // the same, spelled in another way
}

// A person decides about words in pieces as about a command in one, and an automatic approval does not count for them.
func TestHookHasPeopleDecideAboutPieces(t *testing.T) {
	d := newDongle(t, strings.Replace(rules, `"Read file_path: *"`, `"shell *"`, 1))
	d.start()
	use := func(input string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":` + input + `}`
	}
	const list, members = `{"argv":["git","push"]}`, `{"args":"push","command":"git"}`
	const escaped = `{"argv":["sh","-c","printf 'cd x\\ngit push' > x"]}`
	d.passes(use(`{"argv":["rm","x"]}`))
	for _, input := range []string{list, members, escaped} {
		item := d.refuses(use(input), "a person has to approve of it first")
		d.vote(item, true)
		d.passes(use(input))
		d.vote(d.refuses(use(input), "a person has to approve of it first"), false)
	}
	d.passes(use(`{"argv":["rm","y"]}`))
	d.refuses(use(`{"argv":["rm","\\y"]}`), "a person has to approve of it first") // no automatic approval counts
}

// A denied tool use blocks the agent, whatever it does then, until a person lifts that.
func TestHookBlocks(t *testing.T) {
	for name, message := range map[string]string{
		"a command":   bash("cd / && rm -rf srv", "2"),
		"with a tab":  bash("rm\t-rf /", "2"),
		"in a script": bash("sh -c 'rm -rf /'", "2"),
		"in a file":   `{"hook_event_name":"BeforeTool","tool_name":"write","tool_input":{"content":"#!/bin/sh\nrm -rf"}}`,
		"in a string": bash(`python3 -c "import os; os.system(\"true\nrm -rf /srv\")"`, "2"),
		"in JSON": `{"hook_event_name":"BeforeTool","tool_name":"write","tool_input":{"content":"{\"script\": \"set ` +
			`-e\\nrm -rf /srv\"}"}}`,
		"nested":        `{"hook_event_name":"BeforeTool","tool_name":"edit","tool_input":{"edits":[{"new":"rm -rf /"}]}}`,
		"far behind":    bash(strings.Repeat("echo a long script\n", 10_000)+"rm -rf /", "2"),
		"in the middle": bash(strings.Repeat("echo a\n", 9000)+"rm -rf /"+strings.Repeat("\necho b", 9000), "2"),
		"a list":        `{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{"argv":["rm","-rf","/srv"]}}`,
		"in pieces":     `{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{"args":["-rf"],"command":"rm"}}`,
		"as a name":     `{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{"rm -rf /":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDongle(t, rules)
			d.start()
			d.refuses(message, "is blocked until a person lifts that")
			d.refuses(bash("ls", "3"), "is blocked until a person lifts that")
			d.refuses(bash("ls", "4"), "is blocked until a person lifts that", "-agent", "other")
			blocks := d.waiting(approve.Block)
			if len(blocks) != 1 {
				t.Fatalf("people see the blocks %q", blocks)
			}
			d.vote(blocks[0], true)
			d.passes(bash("ls", "5"))
		})
	}
}

// What is risky is shown to a person first, who lets the agent go on with it.
func TestHookHasPeopleVerify(t *testing.T) {
	d := newDongle(t, rules)
	d.start()
	risky := bash("sudo apt upgrade", "1")
	d.refuses(risky, "a person has to look at the agent first")
	d.refuses(bash("ls", "2"), "a person has to look at the agent first")
	challenges := d.waiting(approve.Pause)
	if len(challenges) != 1 {
		t.Fatalf("people see the challenges %q", challenges)
	}
	d.vote(challenges[0], true)
	d.passes(bash("sudo apt upgrade", "3"))
}

// After as many steps as the loop allows a person looks.
func TestHookCountsSteps(t *testing.T) {
	d := newDongle(t, strings.Replace(rules, "max_steps: 9", "max_steps: 3", 1))
	d.start() // has taken one
	d.passes(bash("ls a", "1"))
	d.passes(bash("ls a", "1")) // a client that asks twice about one tool use
	d.passes(bash("ls b", "2"))
	d.vote(d.refuses(bash("git push", "3"), "the agent has used up its steps"), true)
	d.passes(bash("ls c", "4"))
}

// Whatever the hook cannot judge it refuses, also where the command line is wrong: with any other exit code clients let
// the tool use pass.
func TestHookRefusesWhatItCannotJudge(t *testing.T) {
	d := newDongle(t, rules)
	d.start()
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	use := func(members string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"u"` + members + `}`
	}
	for name, tt := range map[string]struct{ message, why string }{
		"nothing":               {"", "not acceptable JSON"},
		"no JSON":               {"hello", "not acceptable JSON"},
		"half of it":            {bash("ls", "1")[:50], "not acceptable JSON"},
		"more behind it":        {bash("ls", "1") + bash("ls", "1"), "not acceptable JSON"},
		"no object":             {`["PreToolUse"]`, "no JSON object"},
		"another event":         {strings.Replace(bash("ls", "1"), "PreToolUse", "PostToolUse", 1), "hook_event_name"},
		"no event":              {`{"tool_name":"Bash","tool_input":{}}`, "hook_event_name"},
		"an event that is none": {`{"hook_event_name":["PreToolUse"],"tool_name":"Bash","tool_input":{}}`, "hook_event_name"},
		"no tool":               {`{"hook_event_name":"PreToolUse","tool_input":{}}`, "tool_name"},
		"another case":          {`{"hook_event_name":"PreToolUse","Tool_Name":"Bash","tool_input":{}}`, "tool_name"},
		"no input":              {use(""), "tool_input is missing"},
		"two inputs":            {use(`,"tool_input":{},"tool_input":{"command":"rm"}`), "not acceptable JSON"},
		"two commands":          {use(`,"tool_input":{"command":"ls","command":"rm"}`), "not acceptable JSON"},
		"an odd identifier":     {strings.Replace(bash("ls", "1"), `"tool_use_id":"1"`, `"tool_use_id":1`, 1), "tool_use_id"},
		"1 MB of arguments":     {bash(strings.Repeat("a", 1<<20), "1"), "longer than 1048576 bytes"},
		"much more":             {bash(strings.Repeat("a", 20<<20), "1"), "longer than 1048576 bytes"},
		"invalid UTF-8":         {use(",\"tool_input\":{\"command\":\"\xff\"}"), "not acceptable JSON"},
		"half a pair":           {use(`,"tool_input":{"command":"\ud800"}`), "not acceptable JSON"},
		"NUL":                   {use(`,"tool_input":{"command":"ls\u0000"}`), "not acceptable JSON"},
		"deep JSON":             {use(`,"tool_input":` + deep), "not acceptable JSON"},
		"a huge number":         {use(`,"tool_input":{"n":1e999999}`), "too large"},
	} {
		t.Run(name, func(t *testing.T) { (&dongle{t, d.dir, d.flags}).refuses(tt.message, tt.why) })
	}
	nowhere := filepath.Join(d.dir, "nowhere", "file")
	if err := os.WriteFile(filepath.Join(d.dir, "broken.yaml"), []byte("loop: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := []byte("this is no database, and long enough")
	if err := os.WriteFile(filepath.Join(d.dir, "broken.db"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	const closed = "the loop itself cannot be asked"
	for name, tt := range map[string]struct {
		args []string
		why  string
	}{
		"no agent":              {append([]string{"hook"}, d.flags...), "-agent"},
		"no name of an agent":   {d.hookArgs("-agent", "../x"), "element_name"},
		"no state":              {[]string{"hook", "-agent", "claude", "-policy", d.flags[3]}, closed},
		"a state nowhere":       {[]string{"hook", "-agent", "claude", "-state", nowhere}, closed},
		"a broken state":        {d.hookArgs("-state", "broken.db"), closed},
		"a state that is none":  {d.hookArgs("-state", "https://x"), closed},
		"no policy":             {d.hookArgs("-policy", nowhere), closed},
		"a broken policy":       {d.hookArgs("-policy", "broken.yaml"), closed},
		"no key":                {d.hookArgs("-state-key", nowhere), closed},
		"no audit file":         {d.hookArgs("-audit", nowhere), closed},
		"no file for a log":     {d.hookArgs("-hook-log", nowhere), "-hook-log"},
		"a flag that is none":   {d.hookArgs("-agnet", "x"), "the command of the hook is wrong"},
		"a word too many":       {d.hookArgs("x"), "unexpected argument"},
		"a flag before it":      {append([]string{"-agnet", "x"}, d.hookArgs()...), "-agnet"},
		"a word before it":      {append([]string{"x"}, d.hookArgs()...), "unexpected argument"},
		"a wrong mode":          {d.hookArgs("-log-level", "x"), closed},
		"no strong place":       {[]string{"hook", "-agent", "claude", "-state", "other.db"}, closed},
		"no time":               {d.hookArgs("-hook-timeout", "1ns"), "not judged in time"},
		"help, for no tool use": {[]string{"hook", "-h"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.run(bash("ls", "1"), tt.args...)
			if r.code != exitRefused || !strings.Contains(r.stderr, tt.why) || strings.Contains(r.stderr, "nowhere") {
				t.Errorf("%+v", r)
			}
		})
	}
	d.passes(bash("ls", "9")) // nothing of all that has held the agent up
}

// What goes wrong is in the log, for people, who also see it in a terminal where the program runs without the hook.
func TestHookLogs(t *testing.T) {
	d := newDongle(t, rules)
	d.refuses(bash("ls", "1"), "cannot be asked", "-policy", "missing.yaml", "-hook-log", "hook.log")
	log, err := os.ReadFile(filepath.Join(d.dir, "hook.log"))
	if err != nil || !strings.Contains(string(log), "missing.yaml") {
		t.Errorf("the log has %q, %v", log, err)
	}
	const run = "run 'aql-dongle' in a terminal with the -state, -state-key, -policy and -audit of the hook"
	d.refuses(bash("ls", "1"), run, "-policy", "missing.yaml")
	r := d.run("", append(slices.Clone(d.flags), "-policy", "missing.yaml")...)
	if r.code == 0 || !strings.Contains(r.stderr, "missing.yaml") {
		t.Errorf("in a terminal: %+v", r)
	}
}

// In a mode that does not hold agents up the hook lets all tool uses pass that can be read.
func TestHookInOtherModes(t *testing.T) {
	for _, mode := range []string{"monitoring", "logging", "disabled"} {
		d := newDongle(t, strings.Replace(rules, "loop:", "loop:\n  mode: "+mode, 1))
		if mode == "monitoring" {
			d.start()
		}
		d.passes(bash("rm -rf /", "1"))
		d.refuses("{}", "hook_event_name")
	}
}

// Agents that are listed are the only ones, where the loop says so.
func TestHookKnowsTheAgents(t *testing.T) {
	d := newDongle(t, rules+"  block: agent\n  agents: {release_bot: {max_steps: 2}}\n")
	d.refuses(bash("ls", "1"), "the agent is none of those that this adapter knows")
}

// The operations of the loop pass in the MCP server of the dongle, so that the agent can pass a challenge. Nothing else
// passes for its name.
func TestHookLetsTheLoopPass(t *testing.T) {
	d := newDongle(t, rules)
	use := func(tool, input string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `}`
	}
	own := use("mcp__dongle__mcp_aql_create", `{"operation":"verify_challenge","params":{}}`)
	for _, of := range []string{
		own, use("mcp__dongle__mcp_aql", `{"operation":"execute_agent","params":{"element_name":"x"},"_request_id":"1"}`),
		use("mcp__dongle__mcp_aql_read", `{"operation":"introspect"}`),
	} {
		if r := d.run(of, d.hookArgs("-server", "dongle")...); r.code != exitPassed {
			t.Errorf("%s: %+v", of, r)
		}
	}
	prefixed := use("mcp__dongle__my_mcp_aql_create", `{"operation":"verify_challenge"}`)
	if r := d.run(prefixed, d.hookArgs("-server", "dongle", "-prefix", "my_")...); r.code != exitPassed {
		t.Errorf("with a prefix: %+v", r)
	}
	d.refuses(own, "the start of agent")
	for _, other := range []string{
		use("mcp__other__mcp_aql_create", `{"operation":"verify_challenge"}`),
		use("mcp__dongle__mcp_aql__run", `{"operation":"verify_challenge"}`),
		use("mcp__dongle__mcp_aql_run", `{"operation":"verify_challenge"}`),
		prefixed,
		use("mcp__dongle__mcp_aql_create", `{"operation":"verify_challenge","command":"rm"}`),
		use("mcp__dongle__mcp_aql_create", `{"operation":"verify_challenge","_confirmation":"x"}`),
		use("mcp__dongle__mcp_aql_create", `{"operation":"verify_challenge","params":["rm"]}`),
		use("mcp__dongle__delete", `{"operation":"verify_challenge"}`),
		use("mcp__dongle__mcp_aql_create", `{"operation":"delete_all"}`),
		use("mcp__dongle__mcp_aql_create", `{"operations":[],"operation":"verify_challenge"}`),
		use("mcp__dongle__mcp_aql_create", `["verify_challenge"]`),
		use("Bash", `{"operation":"verify_challenge"}`),
	} {
		d.refuses(other, "the start of agent", "-server", "dongle")
	}
}

// Of many hooks at the same time, one uses up an approval. All others are refused, and each step that passes counts
// once.
func TestHooksAtTheSameTime(t *testing.T) {
	d := newDongle(t, rules)
	d.start() // the first step of nine
	d.vote(d.refuses(bash("git push", "0"), "a person has to approve"), true)
	count := func(n int, message func(i int) string) (passed int) {
		results := make([]result, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { results[i] = d.run(message(i), d.hookArgs()...) })
		}
		wg.Wait()
		for _, r := range results {
			if r.code == exitPassed {
				passed++
			} else {
				d.refused(r, "refuses this tool use")
			}
		}
		return passed
	}
	if n := count(6, func(i int) string { return bash("git push", fmt.Sprint("push", i)) }); n != 1 {
		t.Errorf("an approval lets %d tool uses pass", n)
	}
	for _, item := range d.waiting(approve.Confirmation) {
		d.vote(item, false)
	}
	for _, item := range d.waiting(approve.Step) {
		d.vote(item, false)
	}
	passed := 2
	for i := 0; passed < 9; i++ {
		passed += count(3, func(j int) string { return bash(fmt.Sprint("ls ", i, j), fmt.Sprint(i, "-", j)) })
		if i > 50 {
			t.Fatal("tool uses do not pass")
		}
	}
	if passed != 9 {
		t.Errorf("%d steps of 9 pass", passed)
	}
	d.refuses(bash("ls more", "last"), "the agent has used up its steps")
}

// A hook that is killed leaves nothing behind that holds others up, and an approval lets one tool use pass at most.
func TestHookIsKilled(t *testing.T) {
	d := newDongle(t, rules)
	d.start()
	d.vote(d.refuses(bash("git push", "0"), "a person has to approve"), true)
	passed := 0
	for i := range 8 {
		c := d.command(d.hookArgs()...)
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write([]byte(bash("git push", fmt.Sprint(i)))); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 { // the others are killed while they read
			stdin.Close()
		}
		if i%4 == 3 { // after the answer, if there is one
			_, _ = stdout.Read(make([]byte, 1))
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if c.ProcessState.ExitCode() == exitPassed {
			passed++
		}
	}
	if passed > 1 {
		t.Errorf("an approval lets %d tool uses pass", passed)
	}
	inbox := d.waiting(approve.Step)
	for _, item := range inbox {
		d.vote(item, false)
	}
	d.passes(bash("ls", "after"))
}

// A client that gives up sends a signal: the tool use is refused.
func TestHookIsInterrupted(t *testing.T) {
	d := newDongle(t, rules)
	c := d.command(d.hookArgs("-hook-timeout", "1h")...)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: when it is written, the hook reads, and takes signals for what they are.
	if _, err := stdin.Write([]byte(strings.Repeat(" ", 200<<10))); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	d.refused(result{code: c.ProcessState.ExitCode(), stderr: stderr.String()}, "interrupted")
}

// A client that never says which tool use it is waits no longer than the hook is told to.
func TestHookDoesNotWaitForItsInput(t *testing.T) {
	d := newDongle(t, rules)
	c := d.command(d.hookArgs("-hook-timeout", "1ms")...)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if _ = c.Run(); c.ProcessState.ExitCode() != exitRefused {
		t.Error(c.ProcessState)
	}
}

// A client that reads nothing of what the hook prints learns by the exit code alone that the tool use is refused.
func TestHookRefusesWhereNobodyReads(t *testing.T) {
	d := newDongle(t, rules)
	d.start()
	for name, args := range map[string][]string{
		"a tool use":   d.hookArgs(),
		"a wrong flag": d.hookArgs("-agnet", "x"),
		"a wrong word": append([]string{"-x"}, d.hookArgs()...),
		"help":         {"hook", "-h"},
	} {
		for _, message := range []string{bash("git push", "1"), bash("ls", "2")} {
			c := d.command(args...)
			c.Stdin = strings.NewReader(message)
			for _, to := range []*io.Writer{&c.Stdout, &c.Stderr} {
				reading, writing, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				reading.Close()
				defer writing.Close()
				*to = writing
			}
			if _ = c.Run(); c.ProcessState.ExitCode() != exitRefused {
				t.Errorf("%s: %v", name, c.ProcessState)
			}
		}
	}
}
