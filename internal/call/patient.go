package call

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aqltag/aqltag/conform"
)

// Patient is a server of which each answer is awaited for a time. What a person takes to answer a question of the
// server meanwhile does not count.
type Patient struct {
	conform.Server
	Timeout time.Duration

	mu    sync.Mutex
	timer *time.Timer // of the call that is waited for; nil: none is
}

// Call implements conform.Server.
func (p *Patient) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.mu.Lock()
	p.timer = time.AfterFunc(p.Timeout, func() { cancel(fmt.Errorf("no answer within %v", p.Timeout)) })
	p.mu.Unlock()
	defer p.stop()
	return p.Server.Call(ctx, tool, arguments)
}

func (p *Patient) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.timer = nil
}

// pause stops the clock of the call that is waited for, until resume is called, which starts it anew.
func (p *Patient) pause() (resume func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil || !p.timer.Stop() {
		return func() {}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer != nil {
			p.timer.Reset(p.Timeout)
		}
	}
}
