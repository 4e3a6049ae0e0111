package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
	"github.com/aqltag/aqltag/internal/plainfile"
)

// dial starts the command of a server or, if there is an endpoint, connects to that. The name of the file with a bearer
// token may be empty.
func dial(
	ctx context.Context, env *environment, command []string, endpoint, bearerFile string, options mcpclient.Options,
) (*mcpclient.Client, error) {
	options.Dir = env.dir
	if bearerFile != "" {
		token, err := readToken(ctx, env.path(bearerFile))
		if err != nil {
			return nil, fmt.Errorf("reading the bearer token: %w", err)
		}
		options.Bearer = token
	}
	if endpoint != "" {
		return mcpclient.URL(ctx, endpoint, options)
	}
	return mcpclient.Command(ctx, command, options)
}

// longestToken bounds a bearer token, in bytes.
const longestToken = 64 << 10

// readToken reads a bearer token from a file, which must not be for everybody to read, or from a pipe.
func readToken(ctx context.Context, name string) (string, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && runtime.GOOS != "windows" {
		if mode := info.Mode().Perm(); mode&0o026 != 0 {
			return "", fmt.Errorf("%s has mode %04o: everybody can read it, or others can change it; make that 0600", name, mode)
		}
	}
	text, err := plainfile.Read(ctx, name, longestToken)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	switch {
	case token == "":
		return "", fmt.Errorf("%s is empty", name)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("%s holds more than one token: a token has no spaces and no line breaks", name)
	}
	return token, nil
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

// logged keeps the beginning and the end of what a command logs, for the case that it fails: a program that does not
// know a flag says so first, and then lists all that it knows.
type logged struct {
	mu         sync.Mutex
	begin, end []byte
	leftOut    bool // something between the two is not kept
}

// How much of what a command logs is kept, in bytes.
const (
	longestBegin = 1 << 10
	longestEnd   = 4 << 10
)

func (l *logged) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin := min(longestBegin-len(l.begin), len(text))
	l.begin, l.end = append(l.begin, text[:begin]...), append(l.end, text[begin:]...)
	if over := len(l.end) - longestEnd; over > 0 {
		l.end, l.leftOut = slices.Delete(l.end, 0, over), true
	}
	return len(text), nil
}

// print writes what was kept, each line behind a bar.
func (l *logged) print(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	between := ""
	if l.leftOut {
		between = "…\n…"
	}
	for line := range bytes.Lines(slices.Concat(l.begin, []byte(between), l.end)) {
		fmt.Fprintf(w, "  | %s\n", conform.Printable(string(bytes.TrimRight(line, "\r\n"))))
	}
}
