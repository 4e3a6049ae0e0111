package main

import (
	"bytes"
	"io"
	"regexp"
)

// consoleLog is the log of an adapter. It takes from it where the console is, once, and passes on all that is not mere
// information.
type consoleLog struct {
	line []byte // what has come of the next one
	rest io.Writer
	url  chan string // with space for one, which ends with a slash
}

var (
	consoleURL  = regexp.MustCompile(`level=INFO .*console" url=(\S+)`)
	information = regexp.MustCompile(`level=INFO `)
)

func (l *consoleLog) Write(text []byte) (int, error) {
	l.line = append(l.line, text...)
	for {
		line, next, whole := bytes.Cut(l.line, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		if match := consoleURL.FindSubmatch(line); match != nil {
			select {
			case l.url <- string(match[1]):
			default: // it is known
			}
		}
		if !information.Match(line) {
			if _, err := l.rest.Write(l.line[:len(line)+1]); err != nil {
				return 0, err
			}
		}
		l.line = next
	}
}
