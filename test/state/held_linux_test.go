package state

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// agent is a process that serves a service on stdio, and the agent that talks to it.
type agent struct {
	*exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   bytes.Buffer
	received bytes.Buffer // all that it was told
	asked    int
}

func startAgent(t *testing.T, args ...string) *agent {
	t.Helper()
	a := &agent{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	a.Env, a.Stderr = append(os.Environ(), workerVariable+"=service"), &a.stderr
	var err error
	if a.in, err = a.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out = bufio.NewReader(io.TeeReader(out, &a.received))
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	a.send(t, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "agent", "version": "1"},
	})
	if _, err := io.WriteString(a.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return a
}

// send sends a request, and returns the line that answers it.
func (a *agent) send(t *testing.T, method string, params any) []byte {
	t.Helper()
	a.asked++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.asked, "method": method, "params": params})
	if err == nil {
		_, err = a.in.Write(append(line, '\n'))
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		answer, err := a.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, &a.stderr)
		}
		if bytes.Contains(answer, fmt.Appendf(nil, `"id":%d`, a.asked)) {
			return answer
		}
	}
}

// call calls an operation, and returns its answer.
func (a *agent) call(t *testing.T, tool, operation string, params map[string]any) map[string]any {
	t.Helper()
	line := a.send(t, "tools/call", map[string]any{
		"name": "mcp_aql_" + tool, "arguments": map[string]any{"operation": operation, "params": params},
	})
	var reply struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	var answer map[string]any
	err := json.Unmarshal(line, &reply)
	if err == nil && len(reply.Result.Content) > 0 {
		err = json.Unmarshal([]byte(reply.Result.Content[0].Text), &answer)
	}
	if err != nil || answer == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return answer
}

// at returns what is at a path of an answer.
func at(answer map[string]any, path ...string) any {
	var value any = answer
	for _, key := range path {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

// REQ-OV-01, REQ-OV-03, REQ-OV-04, REQ-OV-05, REQ-OV-07: an agent that reports what is denied is blocked, in every
// process that shares the state, until it passes the challenge with the code that a person was shown. No byte that it
// was told over stdio or HTTP has the code, whatever it asks for meanwhile, nor has the log at debug, the audit file,
// the state, or what everybody on the machine sees of its processes.
func TestAnAgentIsHeldUntilAPersonHasLooked(t *testing.T) {
	const passphrase = "correct horse battery"
	dir := t.TempDir()
	rules := filepath.Join(dir, "policy.yaml")
	const policy = "version: 1\nloop: {deny: ['rm -rf*'], challenge: {channel: same_user}}\n"
	if err := os.WriteFile(rules, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{
		"-log-level", "debug", "-state", filepath.Join(dir, "state.db"), "-audit", filepath.Join(dir, "audit.log"),
	}
	person := func(words ...string) *typist {
		return startTyping(t, slices.Concat(flags, []string{"operator"}, words)...)
	}
	serves := slices.Concat(flags, []string{"-policy", rules})

	chooses := person("passphrase")
	chooses.types(t, "New passphrase, of 12 characters or more: ", 1, passphrase)
	chooses.types(t, "The same once more: ", 1, passphrase)
	chooses.ends(t)

	a := startAgent(t, serves...)
	bot := map[string]any{"element_name": "release_bot"}
	asked := a.call(t, "execute", "execute_agent", bot)
	item, _ := at(asked, "error", "details", "approval_id").(string)
	if item == "" {
		t.Fatalf("nobody is asked: %v", asked)
	}
	approves := person("approve", item)
	approves.types(t, "Passphrase of ", 1, passphrase)
	approves.types(t, "Type approve ", 1, "approve")
	approves.ends(t)
	started := a.call(t, "execute", "execute_agent", bot)
	execution, _ := at(started, "data", "execution_id").(string)
	if at(started, "data", "continue") != true || execution == "" {
		t.Fatalf("the agent is not started: %v", started)
	}
	step := map[string]any{"element_name": "release_bot", "nextActionHint": "rm -rf /srv/cache"}
	stopped := a.call(t, "create", "record_execution_step", step)
	notes, _ := at(stopped, "data", "notifications").([]any)
	if at(stopped, "data", "stopped") != true || len(notes) == 0 {
		t.Fatalf("the agent is not stopped: %v", stopped)
	}
	challenge, _ := at(notes[len(notes)-1].(map[string]any), "metadata", "verificationId").(string)

	other, remote := startAgent(t, serves...), startHTTPAgent(t, serves...)
	for _, process := range []*agent{a, other} {
		got := process.call(t, "execute", "execute_agent", map[string]any{"element_name": "another"})
		if at(got, "error", "code") != "PERMISSION_DENIED" {
			t.Errorf("a blocked caller starts another agent: %v", got)
		}
	}
	var codes []string
	look := func() string {
		looks := person("show-code", challenge)
		looks.types(t, "Passphrase of ", 1, passphrase)
		looks.ends(t)
		shown := codeOnScreen.FindStringSubmatch(looks.sees())
		if shown == nil {
			t.Fatalf("the terminal shows %q", looks.sees())
		}
		codes = append(codes, shown[1])
		return shown[1]
	}
	var seen strings.Builder
	asksAround := func() { // while a code is good
		for _, process := range []*agent{a, other} {
			for operation, params := range map[string]map[string]any{
				"introspect": {"query": "operations", "name": "verify_challenge"}, "list_executions": nil,
				"get_execution": {"execution_id": execution},
			} {
				process.call(t, "read", operation, params)
			}
			process.call(t, "create", "record_execution_step", step)
			process.call(t, "execute", "execute_agent", bot)
			seen.WriteString(tracesOf(t, process.Process.Pid))
		}
		for operation, params := range map[string]map[string]any{
			"introspect": {"query": "operations", "name": "verify_challenge"}, "list_executions": nil,
			"get_execution": {"execution_id": execution},
		} {
			remote.call(t, "read", operation, params)
		}
		remote.call(t, "create", "record_execution_step", step)
		remote.call(t, "create", "verify_challenge", map[string]any{"challenge_id": challenge, "code": "1"})
		seen.WriteString(tracesOf(t, remote.Process.Pid))
		addFiles(t, &seen, dir)
	}
	passes := func(process *agent, code string) map[string]any {
		return process.call(t, "create", "verify_challenge", map[string]any{"challenge_id": challenge, "code": code})
	}
	code := look()
	asksAround()
	wrong := passes(a, strings.Repeat("0", 26))
	replacement, _ := at(wrong, "error", "details", "challenge_id").(string)
	if at(wrong, "error", "code") != "PERMISSION_DENIED" || replacement == "" || replacement == challenge {
		t.Fatalf("a wrong code: %v", wrong)
	}
	if got := passes(a, code); at(got, "success") != false {
		t.Fatalf("a code that was spent: %v", got)
	}
	challenge = replacement
	code = look()
	asksAround()
	if got := passes(other, code); at(got, "data", "unblocked") != true {
		t.Fatalf("the right code: %v", got)
	}
	step["nextActionHint"] = "read the manual"
	if got := a.call(t, "create", "record_execution_step", step); at(got, "data", "continue") != true {
		t.Errorf("the agent does not go on: %v", got)
	}
	for _, process := range []*agent{a, other} {
		if err := process.in.Close(); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, process.out)
		if err := process.Wait(); err != nil {
			t.Errorf("%v: %s", err, &process.stderr)
		}
		seen.WriteString(process.received.String() + process.stderr.String())
	}
	told := remote.end(t)
	if strings.Count(told, `\"success\":`) < 10 {
		t.Errorf("what HTTP has told is no %s", told)
	}
	seen.WriteString(told)
	addFiles(t, &seen, dir)
	findNone(t, seen.String(), append(codes, passphrase), "challenge_shown", "agent_blocked", challenge)
}
