package front

import (
	"io"
	"sync"
)

// maxAhead is how many bytes are read ahead.
const maxAhead = 1 << 20

// ahead is a stream that goes on to be read, up to a bound, while nobody takes its bytes. So the end of the input is
// seen although the connection waits for its client to read.
type ahead struct {
	in io.Reader

	mu      sync.Mutex
	changed sync.Cond
	read    []byte // and not taken yet
	err     error  // of the stream, after what was read
	reading bool   // a goroutine reads
	wanted  bool   // it is to go on
}

func newAhead(in io.Reader) *ahead {
	a := &ahead{in: in}
	a.changed.L = &a.mu
	return a
}

// Read takes what was read ahead, and then reads.
func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	for a.reading && len(a.read) == 0 {
		a.changed.Wait()
	}
	if len(a.read) > 0 || a.err != nil {
		defer a.mu.Unlock()
		n := copy(p, a.read)
		if a.read = a.read[n:]; len(a.read) == 0 {
			a.read = nil
		}
		if n == 0 {
			return 0, a.err
		}
		return n, nil
	}
	a.mu.Unlock()
	return a.in.Read(p)
}

// begin begins to read ahead, until end is called. Nobody may be in Read. ended is called when the stream has ended.
func (a *ahead) begin(ended func()) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wanted = true
	if !a.reading && a.err == nil {
		a.reading = true
		go a.fill(ended)
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wanted = false
	}
}

func (a *ahead) fill(ended func()) {
	buf := make([]byte, readAhead)
	for a.take(buf) {
	}
	a.mu.Lock()
	err := a.err
	a.mu.Unlock()
	if err != nil {
		ended()
	}
}

// take reads once, and reports whether it is to be done again.
func (a *ahead) take(buf []byte) bool {
	n, err := a.in.Read(buf)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read, a.err = append(a.read, buf[:n]...), err
	a.reading = err == nil && a.wanted && len(a.read) < maxAhead
	a.changed.Broadcast()
	return a.reading
}
