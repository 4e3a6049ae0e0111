package front

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxIdle is how many workers wait for the next call. Starting one costs more than waking it.
const maxIdle = 16

// job is a message and the memory that it was read from.
type job struct {
	message rpc.Message
	text    []byte
	ctx     context.Context
	cancel  context.CancelFunc
}

var jobs = sync.Pool{New: func() any { return new(job) }}

// release ends the use of the message.
func (j *job) release() {
	*j = job{text: kept(j.text)}
	jobs.Put(j)
}

// begin has a worker answer a call.
func (c *Conn) begin(j *job) error {
	m := &j.message
	if err := c.calls.Enter(); err != nil {
		defer j.release()
		return c.respond(refusal(m.ID, err))
	}
	j.ctx, j.cancel = context.WithCancel(c.base)
	if err := c.track(m.Key, request{cancel: j.cancel}); err != nil {
		c.calls.Leave()
		j.cancel()
		j.release()
		return c.notBegun(err)
	}
	select {
	case c.jobs <- j:
	default:
		go c.work(j)
	}
	runtime.Gosched() // the worker runs here before the next read blocks this thread: no other one has to be woken
	return nil
}

// refusal is the response to a call that is refused.
func refusal(id string, err error) []byte {
	var reported *jsonrpc.Error
	if !errors.As(err, &reported) {
		return rpc.AppendError(nil, id, rpc.InternalError, "internal error")
	}
	return rpc.AppendError(nil, id, int(reported.Code), reported.Message)
}

// work answers a call, and others that come.
func (c *Conn) work(j *job) {
	var buf []byte
	for {
		buf = kept(c.answer(j, buf))
		if c.idle.Add(1) > maxIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case j = <-c.jobs:
			c.idle.Add(-1)
		case <-c.closed:
			return
		}
	}
}

// answer answers a call, and returns the buffer in which it did.
func (c *Conn) answer(j *job, buf []byte) []byte {
	m := &j.message
	defer j.release()
	defer j.cancel()
	answered := false
	defer c.lost(m, &answered)
	buf, extra := c.calls.Answer(j.ctx, m, buf[:0])
	answered = true
	c.calls.Leave() // before it waits for the client, or the SDK's handler enters again
	if extra != nil {
		if !c.requests.hand(m.Key) {
			c.open.add(-1)
			return buf
		}
		if message, fault := forSDK(m, extra); fault == nil {
			c.pass(message)
		}
		return buf
	}
	c.requests.End(m.Key)
	defer c.open.add(-1)
	buf = append(buf, '\n')
	if c.out.write(buf) != nil {
		c.Close() //nolint:errcheck // it has none
	}
	return buf
}

// lost, which is to be deferred, answers a call that has ended its goroutine without an answer.
func (c *Conn) lost(m *rpc.Message, answered *bool) {
	if *answered {
		return
	}
	c.calls.Leave()
	c.requests.End(m.Key)
	defer c.open.add(-1)
	response := rpc.AppendError(nil, m.ID, rpc.InternalError, "internal error: the call has ended without an answer")
	_ = c.out.write(append(response, '\n')) // the next call finds out that the stream is of no use
}
