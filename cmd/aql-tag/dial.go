package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
)

// dial starts the command of a server or, if there is an endpoint, connects to that. The name of the file with a bearer
// token may be empty.
func dial(
	ctx context.Context, env *environment, command []string, endpoint, bearerFile string, options mcpclient.Options,
) (*mcpclient.Client, error) {
	options.Dir = env.dir
	if bearerFile != "" {
		token, err := os.ReadFile(env.path(bearerFile))
		if err != nil {
			return nil, fmt.Errorf("reading the bearer token: %w", err)
		}
		options.Bearer = strings.TrimSpace(string(token))
	}
	if endpoint != "" {
		return mcpclient.URL(ctx, endpoint, options)
	}
	return mcpclient.Command(ctx, command, options)
}

// printableLines writes what a command logs, with all that could control a terminal escaped.
type printableLines struct{ w io.Writer }

func (p printableLines) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		end := ""
		if cut, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			line, end = bytes.TrimSuffix(cut, []byte("\r")), "\n"
		}
		if _, err := io.WriteString(p.w, conform.Printable(string(line))+end); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// lastLines keeps the end of what a command logs, for the case that it fails.
type lastLines struct {
	mu   sync.Mutex
	text []byte
}

// mostLogged is how much of what a command logs is kept, in bytes.
const mostLogged = 4 << 10

func (l *lastLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text...)
	if over := len(l.text) - mostLogged; over > 0 {
		l.text = append([]byte("…"), l.text[over:]...)
	}
	return len(text), nil
}

// print writes what was kept, each line behind a bar.
func (l *lastLines) print(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.text) {
		fmt.Fprintf(w, "  | %s\n", conform.Printable(string(bytes.TrimRight(line, "\r\n"))))
	}
}
