package connection

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// conversation is what a client does, step by step.
type conversation struct {
	elicit bool // whether the servers ask the person at the client
	steps  []step
}

// step is something that a client does, before it waits for what the servers do about it. Only one of its fields is
// set, beside pieces.
type step struct {
	lines    []string      // lines on stdio, written at once
	pieces   int           // in how many pieces they are written, each after the servers have read the last
	requests []request     // requests over HTTP, sent at once
	release  string        // the thing for which calls of wait_thing wait
	answer   string        // the result with which all questions of the servers are answered
	leave    int           // 1 + the request of the conversation whose client goes away
	wait     time.Duration // nothing happens for so long
}

// request is a request over HTTP. The text {session} in a header is replaced by the session of the last initialize.
type request struct {
	method, body string
	headers      []string // names and values in turn
	cut          bool     // the body ends too early, with an error
}

func (s step) String() string {
	var out strings.Builder
	switch {
	case s.lines != nil:
		fmt.Fprintf(&out, "send, in %d pieces:", max(s.pieces, 1))
		for _, line := range s.lines {
			fmt.Fprintf(&out, "\n      %s", clip(line))
		}
	case s.requests != nil:
		out.WriteString("send at once:")
		for _, r := range s.requests {
			fmt.Fprintf(&out, "\n      %s %q cut=%v %s", r.method, r.headers, r.cut, clip(r.body))
		}
	case s.release != "":
		out.WriteString("release " + s.release)
	case s.answer != "":
		out.WriteString("answer questions: " + s.answer)
	case s.leave > 0:
		fmt.Fprintf(&out, "the client of request %d leaves", s.leave-1)
	default:
		out.WriteString("wait " + s.wait.String())
	}
	return out.String()
}

// clip returns a text as Go writes it, without the middle of a long one.
func clip(text string) string {
	if len(text) > 1200 {
		return fmt.Sprintf("%q … %d bytes … %q", text[:300], len(text)-600, text[len(text)-300:])
	}
	return fmt.Sprintf("%q", text)
}

func (c conversation) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "elicit: %v", c.elicit)
	for i, s := range c.steps {
		fmt.Fprintf(&out, "\n  %d %s", i, s)
	}
	return out.String()
}

// shrink returns the smallest conversation that it finds in which the same goes wrong.
func shrink(c conversation, fails func(conversation) bool) conversation {
	for budget := 400; ; {
		smaller, ok := shrinkOnce(c, func(c conversation) bool {
			budget--
			return budget >= 0 && fails(c)
		})
		if !ok {
			return c
		}
		c = smaller
	}
}

// shrinkOnce leaves out one step, one line of a step or one request of it, or writes a step in one piece.
func shrinkOnce(c conversation, fails func(conversation) bool) (conversation, bool) {
	with := func(i int, replacement ...step) (conversation, bool) {
		smaller := c
		smaller.steps = slices.Replace(slices.Clone(c.steps), i, i+1, replacement...)
		return smaller, fails(smaller)
	}
	for i := len(c.steps) - 1; i >= 0; i-- {
		if smaller, ok := with(i); ok {
			return smaller, true
		}
	}
	for i, s := range c.steps {
		for j := range s.lines {
			changed := s
			changed.lines = slices.Delete(slices.Clone(s.lines), j, j+1)
			if smaller, ok := with(i, changed); ok && len(s.lines) > 1 {
				return smaller, true
			}
		}
		for j := range s.requests {
			changed := s
			changed.requests = slices.Delete(slices.Clone(s.requests), j, j+1)
			if smaller, ok := with(i, changed); ok && len(s.requests) > 1 {
				return smaller, true
			}
		}
		if s.pieces > 1 {
			changed := s
			changed.pieces = 0
			if smaller, ok := with(i, changed); ok {
				return smaller, true
			}
		}
	}
	return c, false
}
