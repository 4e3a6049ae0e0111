package front

import (
	"io"
	"sync"
)

// maxQueued is the number of bytes that may wait for a stream whose reader is slow, until those who write wait, too.
const maxQueued = 256 << 10

// output writes lines to a stream, one after the other. While one goroutine writes, the lines of others are collected
// and written together. It is all that waits for a client on a stream.
type output struct {
	out io.Writer

	mu      sync.Mutex
	changed sync.Cond // the queue was written, or writing ended
	queue   []byte
	spare   []byte // memory for the next queue
	writing bool
	err     error // of the stream, which then is of no use
}

func newOutput(out io.Writer) *output {
	o := &output{out: out}
	o.changed.L = &o.mu
	return o
}

// write writes a line, which ends with a newline, or leaves it to the goroutine that is writing. The caller keeps the
// memory of the line. It returns the error of an earlier line, if there was one.
func (o *output) write(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.waitLocked(nil); err != nil {
		return err
	}
	if o.writing {
		o.queue = append(o.queue, line...)
		return nil
	}
	o.writing = true
	o.send(line)
	o.sendQueue()
	return o.err
}

// post leaves a line to another goroutine, as the reader has to, which would not see the end of the input while it
// wrote. It calls full as wait does.
func (o *output) post(line []byte, full func() (end func())) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.waitLocked(full); err != nil {
		return err
	}
	o.queue = append(o.queue, line...)
	if !o.writing {
		o.writing = true
		go func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.sendQueue()
		}()
	}
	return nil
}

// wait waits until there is room for another line. Where there is none, it calls full, and end when there is.
func (o *output) wait(full func() (end func())) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waitLocked(full)
}

func (o *output) waitLocked(full func() (end func())) error {
	if full != nil && o.writing && o.err == nil && len(o.queue) > maxQueued {
		defer full()()
	}
	for o.writing && o.err == nil && len(o.queue) > maxQueued {
		o.changed.Wait()
	}
	return o.err
}

// sendQueue writes what was left to this goroutine.
func (o *output) sendQueue() {
	for o.err == nil && len(o.queue) > 0 {
		batch := o.queue
		o.queue = o.spare[:0]
		o.send(batch)
		o.spare = kept(batch)
		o.changed.Broadcast()
	}
	o.writing = false
	o.changed.Broadcast()
}

// send writes bytes without the lock.
func (o *output) send(bytes []byte) {
	o.mu.Unlock()
	_, err := o.out.Write(bytes)
	o.mu.Lock()
	if err != nil && o.err == nil {
		o.err = err
	}
}

// fail ends the use of the stream with an error. Nobody waits for it any more.
func (o *output) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.changed.Broadcast()
}

// flush waits until everything is written, or the stream is of no use.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && o.err == nil {
		o.changed.Wait()
	}
}

// maxKept is the size of a buffer up to which it is used again.
const maxKept = 64 << 10

// kept returns a buffer for further use, unless it is large.
func kept(buf []byte) []byte {
	if cap(buf) > maxKept {
		return nil
	}
	return buf[:0]
}
