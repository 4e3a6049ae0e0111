package browser

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// choose chooses a passphrase at a terminal, by a command that is given in a folder.
func choose(ctx context.Context, t *testing.T, folder, command string) {
	t.Helper()
	script, err := Find("bsdutils", "script")
	need(t, err)
	terminal := exec.CommandContext(ctx, script, "-qec", command, "/dev/null")
	terminal.Dir = folder
	stdin, err := terminal.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := terminal.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := terminal.Start(); err != nil {
		t.Fatal(err)
	}
	var screen bytes.Buffer
	part := make([]byte, 1)
	for _, prompt := range []string{"New passphrase, of 12 characters or more: ", "once more: "} {
		for !strings.HasSuffix(screen.String(), prompt) {
			if _, err := stdout.Read(part); err != nil {
				t.Fatalf("the terminal does not show %q: %v\n%s", prompt, err, screen.String())
			}
			screen.Write(part)
		}
		if _, err := io.WriteString(stdin, secretWord+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.Copy(&screen, stdout); err != nil {
		t.Fatal(err)
	}
	if err := terminal.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, screen.String())
	}
}
