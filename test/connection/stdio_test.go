package connection

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	conversations = flag.Int("conversations", 0, "random conversations over each transport; 0: as many as the tier wants")
	firstSeed     = flag.Uint64("seed", 1, "of the first conversation")
)

// rounds is how many conversations a test has over each transport.
func rounds() int {
	switch {
	case *conversations > 0:
		return *conversations
	case testing.Short():
		return 150
	default:
		return 1000
	}
}

// play plays a conversation in a bubble of its own. It returns what the servers did in different ways.
func play(t *testing.T, c conversation, on func(testing.TB, conversation) string) (fault string) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			fault = fmt.Sprintf("panic: %v", v)
		}
	}()
	synctest.Test(t, func(t *testing.T) { fault = on(t, c) })
	return fault
}

// session is one conversation over stdio with both servers.
type session struct {
	ours, theirs         server
	mine, their          *stream
	handshake, questions []string
	waiting              []string // canonical ids of requests without an answer
}

// idOf returns the canonical id of a message; "": it has none.
func idOf(line string) string {
	m, _ := messageOf(line)
	switch m.id {
	case "", "null":
		return ""
	case "-0":
		return "0"
	}
	return canonical([]byte(m.id))
}

// overStdio plays a conversation over stdio.
func overStdio(tb testing.TB, c conversation) string {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s := &session{ours: newOurs(tb, c.elicit), theirs: newTheirs(tb, c.elicit)}
	s.mine, s.their = openStream(ctx, s.ours), openStream(ctx, s.theirs)
	defer func() {
		s.mine.in.Close()
		s.their.in.Close()
		settle()
		s.ours.close()
		s.theirs.close()
		settle()
	}()
	for i, st := range c.steps {
		if fault := s.do(ctx, st); fault != "" {
			return fmt.Sprintf("step %d: %s", i, fault)
		}
	}
	return s.end()
}

// do does one step and compares the answers.
func (s *session) do(ctx context.Context, st step) string {
	var more []string // that our server answers
	switch {
	case st.lines != nil:
		text := strings.Join(st.lines, "\n") + "\n"
		var plain []string
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			instead, answers := s.insteadOf(ctx, line)
			more = append(more, answers...)
			if instead != "" {
				plain = append(plain, instead)
			}
			if strings.Contains(line, `initialize`) {
				s.handshake = append(s.handshake, instead)
			}
		}
		for _, line := range plain {
			if m, ok := messageOf(line); ok && m.method != "" && idOf(line) != "" {
				s.waiting = append(s.waiting, idOf(line))
			}
			s.their.in.write([]byte(line + "\n"))
		}
		size := len(text)/max(st.pieces, 1) + 1
		for piece := range slices.Chunk([]byte(text), size) {
			s.mine.in.write(piece)
			synctest.Wait()
		}
	case st.release != "":
		s.ours.release(st.release)
		s.theirs.release(st.release)
	case st.answer != "":
		for _, id := range s.questions {
			line := []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + st.answer + "}\n")
			s.mine.in.write(line)
			s.their.in.write(line)
		}
		s.questions = nil
	default:
		time.Sleep(st.wait)
	}
	settle()
	return s.compare(more)
}

// compare compares what the servers have written since the last time. more is what ours answers in addition.
func (s *session) compare(more []string) string {
	got, questions := messages(s.mine.out.take())
	want, _ := messages(s.their.out.take())
	s.questions = append(s.questions, questions...)
	s.waiting = slices.DeleteFunc(s.waiting, func(id string) bool {
		return slices.ContainsFunc(want, func(m string) bool { return idOf(m) == id })
	})
	different, missing := minus(got, slices.Concat(want, more))
	var fault strings.Builder
	if s.mine.hasEnded() {
		fmt.Fprintf(&fault, "\n    our session ended: %v", s.mine.err)
	}
	if s.their.hasEnded() {
		fmt.Fprintf(&fault, "\n    the session with the plain server ended: %v", s.their.err)
	}
	for _, m := range different {
		fmt.Fprintf(&fault, "\n    only ours:   %s", clip(m))
	}
	for _, m := range missing {
		fmt.Fprintf(&fault, "\n    only theirs: %s", clip(m))
	}
	return fault.String()
}

// insteadOf returns what the plain server is sent for a line, and what our server answers in addition.
func (s *session) insteadOf(ctx context.Context, line string) (instead string, answers []string) {
	p := &plain{endsSession: func(line string) bool { return s.endsSession(ctx, line) },
		waits: func(id string) bool { return slices.Contains(s.waiting, idOf(`{"id":`+id+`}`)) }}
	for _, row := range onStdio {
		instead, more, applies := row.apply(line, p)
		if !applies {
			continue
		}
		answers = append(answers, more...)
		if line = instead; line == "" {
			break
		}
	}
	return line, answers
}

// endsSession reports whether the plain server answers nothing any more after a line, in another session that has come
// as far.
func (s *session) endsSession(ctx context.Context, line string) bool {
	other := openStream(ctx, s.theirs)
	defer func() {
		other.in.Close()
		settle()
	}()
	other.in.write([]byte(strings.Join(s.handshake, "\n") + "\n"))
	settle()
	other.in.write([]byte(line + "\n"))
	settle()
	other.out.take()
	other.in.write([]byte(`{"jsonrpc":"2.0","id":"probe","method":"ping"}` + "\n"))
	settle()
	return !strings.Contains(other.out.take(), `"probe"`)
}

// end ends the input. Both servers must end then, ours without an error but the one that tells of calls that were cut
// off.
func (s *session) end() string {
	s.mine.in.Close()
	s.their.in.Close()
	settle()
	switch {
	case !s.mine.hasEnded():
		return "our server did not end with its input"
	case s.mine.err != nil && !strings.Contains(s.mine.err.Error(), "were cut off"):
		return fmt.Sprintf("our server ended with its input: %v", s.mine.err)
	}
	for line := range strings.Lines(s.mine.out.take()) {
		if m := canonical([]byte(line)); strings.HasPrefix(m, "not JSON") {
			return "our server wrote at the end: " + m
		}
	}
	return ""
}

// D8: over stdio our server answers each message of a conversation as a plain server of the SDK does, whatever the
// client sends, and how ever it cuts it, but for the rows of the table.
func TestStdio(t *testing.T) {
	compareAll(t, overStdio, func(seed uint64) conversation { return newGenerator(seed).onStdio() })
}

// compareAll plays random conversations, on each processor one at a time.
func compareAll(t *testing.T, on func(testing.TB, conversation) string, make func(seed uint64) conversation) {
	t.Helper()
	t.Logf("%d conversations from -seed %d", rounds(), *firstSeed)
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
			t.Parallel()
			failed := 0
			for i := worker; i < rounds() && failed < 10; i += workers {
				seed := *firstSeed + uint64(i)
				c := make(seed)
				if play(t, c, on) == "" {
					continue
				}
				failed++
				c = shrink(c, func(c conversation) bool { return play(t, c, on) != "" })
				t.Errorf("the conversation of -seed %d, made smaller:\n%s\n%s", seed, c, play(t, c, on))
			}
		})
	}
}

// Each row of the table is needed: without it the servers differ in its example.
func TestStdioDifferences(t *testing.T) {
	for _, row := range onStdio {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &session{ours: newOurs(t, false), theirs: newPlain(t, false)}
				s.mine, s.their = openStream(t.Context(), s.ours), openStream(t.Context(), s.theirs)
				for _, c := range []*stream{s.mine, s.their} {
					c.in.write([]byte(row.example + "\n"))
				}
				settle()
				if s.compare(nil) == "" {
					t.Errorf("the servers do the same with %s; leave the row out", clip(row.example))
				}
				s.mine.in.Close()
				s.their.in.Close()
				settle()
				s.ours.close()
				s.theirs.close()
				settle()
			})
		})
	}
}
