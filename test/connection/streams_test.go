package connection

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing/synctest"
	"time"
)

// inbox is the stream that a server reads. Each piece that is written is one Read of the server.
type inbox struct {
	mu     sync.Mutex
	pieces [][]byte
	ended  bool
	more   chan struct{}
}

func newInbox() *inbox { return &inbox{more: make(chan struct{}, 1)} }

func (b *inbox) write(piece []byte) {
	b.mu.Lock()
	b.pieces = append(b.pieces, bytes.Clone(piece))
	b.mu.Unlock()
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

func (b *inbox) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		if len(b.pieces) > 0 {
			n := copy(p, b.pieces[0])
			if b.pieces[0] = b.pieces[0][n:]; len(b.pieces[0]) == 0 {
				b.pieces = b.pieces[1:]
			}
			b.mu.Unlock()
			return n, nil
		}
		ended := b.ended
		b.mu.Unlock()
		if ended {
			return 0, io.EOF
		}
		<-b.more
	}
}

// Close ends the stream, after what was written.
func (b *inbox) Close() error {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.wake()
	return nil
}

// outbox is the stream that a server writes.
type outbox struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *outbox) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *outbox) Close() error { return nil }

// take returns what was written since the last take.
func (b *outbox) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.out.String()
	b.out.Reset()
	return text
}

// stream is a client's end of a session on stdio.
type stream struct {
	in    *inbox
	out   outbox
	err   error
	ended chan struct{}
}

func openStream(ctx context.Context, s server) *stream {
	c := &stream{in: newInbox(), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer func() {
			if v := recover(); v != nil {
				c.err = fmt.Errorf("panic: %v", v)
			}
		}()
		c.err = s.stdio(ctx, c.in, &c.out)
	}()
	return c
}

func (c *stream) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// settle lets the servers do all that they can do now, and what they do in the next seconds of the bubble.
func settle() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}
