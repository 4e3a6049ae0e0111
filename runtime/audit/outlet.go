package audit

import (
	"context"
	"fmt"
	"time"
)

// outlet is a sink with its progress. Only the goroutine of run uses it.
type outlet struct {
	sink   Sink
	stored int // how many records at the beginning of the queue the sink has stored
	err    error
	pause  time.Duration // after the last failure
	retry  time.Time
}

// attempt writes to a sink the records that it has not stored.
func (l *Log) attempt(o *outlet, records []Record) {
	ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
	defer cancel()
	for o.stored < len(records) {
		batch := records[o.stored:min(len(records), o.stored+largestBatch)]
		if err := o.sink.Write(ctx, batch); err != nil {
			if o.err == nil {
				l.logger.ErrorContext(l.ctx, "an audit sink fails; records are kept in the queue until it recovers",
					"sink", sinkName(o.sink), "error", err)
			}
			o.err = err
			o.pause = min(max(2*o.pause, firstPause), longestPause)
			o.retry = time.Now().Add(o.pause)
			return
		}
		o.stored += len(batch)
	}
	if o.err != nil {
		l.logger.InfoContext(l.ctx, "an audit sink has recovered", "sink", sinkName(o.sink))
		o.err, o.pause, o.retry = nil, 0, time.Time{}
	}
}

// sinkName returns the name of a sink in logs.
func sinkName(s Sink) string {
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", s)
}
