package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
)

var consoleInLog = regexp.MustCompile(`serving the console" url=(\S+)`)

// People see in a browser what the dongle asks them, too.
func TestTheDongleHasAConsole(t *testing.T) {
	d := newDongle(t, rules)
	server := d.command(append(d.flags, "-console", "127.0.0.1:0")...)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	var at []string
	for at == nil {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("the log ends before it says where the console is, with %q: %v", line, err)
		}
		at = consoleInLog.FindStringSubmatch(line)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at[1]+"login", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(page), "aql-dongle") || !strings.Contains(string(page), "passphrase") {
		t.Errorf("the page is %s, %v", page, err)
	}
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, log); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// The hook, which runs for each tool use, has the flag of the server and serves nothing: it judges as it does without
// it, whoever has the address, and nobody is called there.
func TestTheHookLeavesTheConsoleToTheServer(t *testing.T) {
	d := newDongle(t, rules)
	var listens net.ListenConfig
	listener, err := listens.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan bool)
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			connection.Close()
		}
		called <- err == nil
	}()
	address := listener.Addr().String()
	item := d.refuses(bash("ls", "1"), "approve of the start of agent 'claude'", "-console", address)
	d.vote(item, true)
	if r := d.run(bash("ls", "2"), d.hookArgs("-console", address)...); r != (result{exitPassed, "{}\n", ""}) {
		t.Errorf("what is approved: %+v", r)
	}
	listener.Close()
	if <-called {
		t.Error("the hook calls the address of the console")
	}
	if r := d.run(bash("ls", "3"), d.hookArgs("-console", address)...); r != (result{exitPassed, "{}\n", ""}) {
		t.Errorf("where nobody has the address: %+v", r)
	}
}

// What the policy says of the console counts for the hook that has the flag of the server, as it does there: without
// it the hook refuses what it cannot enforce.
func TestTheConsoleCountsForTheHook(t *testing.T) {
	d := newDongle(t, strings.Replace(rules, "channel: same_user", "channel: other_user, console: other_user", 1))
	d.refused(d.run(bash("ls", "1"), d.hookArgs()...), "The safety loop refuses this tool use")
	if waits := d.waiting(approve.Confirmation); len(waits) > 0 {
		t.Errorf("without -console people are asked: %q", waits)
	}
	item := itemID.FindString(d.run(bash("ls", "1"), d.hookArgs("-console", "127.0.0.1:9090")...).stderr)
	if !slices.Contains(d.waiting(approve.Confirmation), item) {
		t.Errorf("with it nobody is asked, but for %q", item)
	}
}
