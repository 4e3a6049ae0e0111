//go:build unix

package deploy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"os/user"
	"strings"
	"testing"
)

// choose types a passphrase at a terminal, to a command that asks for a new one.
func choose(t *testing.T, command *exec.Cmd, passphrase string) {
	t.Helper()
	var words []string
	for _, word := range command.Args {
		words = append(words, "'"+word+"'")
	}
	script := need(t, "script", "bsdutils")
	terminal := exec.CommandContext(t.Context(), script, "-qec", strings.Join(words, " "), "/dev/null")
	terminal.Dir, terminal.Env = command.Dir, command.Env
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
	for _, prompt := range []string{"characters or more: ", "once more: "} {
		for !strings.HasSuffix(screen.String(), prompt) {
			if _, err := stdout.Read(part); err != nil {
				t.Fatalf("the terminal does not show %q: %v\n%s", prompt, err, screen.String())
			}
			screen.Write(part)
		}
		if _, err := io.WriteString(stdin, passphrase+"\n"); err != nil {
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

// A browser is one in which the person who runs the tests has logged in to a console.
type browser struct {
	http.Client
	address string
}

// logIn logs in with a passphrase.
func logIn(t *testing.T, address, passphrase string) *browser {
	t.Helper()
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{address: address}
	if b.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"name": {who.Username}, "passphrase": {passphrase}}
	if page := b.send(t, http.MethodPost, "login", form); !strings.Contains(page, "Waiting") {
		t.Fatalf("the login is answered with\n%s", page)
	}
	return b
}

// page returns a page of the console.
func (b *browser) page(t *testing.T, path string) string {
	t.Helper()
	return b.send(t, http.MethodGet, path, nil)
}

// send sends a request as a browser does for a page of the same site, and returns the page that it ends at.
func (b *browser) send(t *testing.T, method, path string, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.address+"/"+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	reply, err := b.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
