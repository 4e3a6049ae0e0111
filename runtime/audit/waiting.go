package audit

// Err returns why the log cannot be relied on just now: ErrNotKept, where a sink has not stored what it was given last,
// ErrFull or ErrClosed; nil: it keeps what it is given. What failed may go well again with the next record.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closing:
		return ErrClosed
	case l.outage != nil:
		return l.outage
	case len(l.queue) >= l.limit:
		return ErrFull
	}
	return nil
}

// Waiting returns how many records some sink has not stored yet.
func (l *Log) Waiting() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}
