package audit

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Bounds of the records of refusals in one window, whose length is refusalWindow.
const (
	refusalWindow   = time.Minute
	defaultRefusals = 10
	mostRefusals    = 1000 // of all callers
	mostAskers      = 4096 // of which refusals are counted apart
	mostEvents      = 32   // that one record counts
)

// Refused says how many requests were refused that have no records of their own.
type Refused struct {
	Count    uint64
	From, To time.Time // of the first and of the last
	// Events counts the records that were not written, by their event and reason, such as "OPERATION_DENIED: policy".
	Events map[string]uint64
}

// write writes the members of a record that counts refusals.
func (r *Refused) write(w *recordWriter) {
	if r == nil {
		return
	}
	w.Key("refused")
	w.Uint(r.Count)
	w.text("refused_from", timeOf(r.From).Format(timeLayout))
	w.text("refused_to", timeOf(r.To).Format(timeLayout))
	w.Key("refused_events")
	w.BeginObject()
	for _, event := range slices.Sorted(maps.Keys(r.Events)) {
		w.KeyEscaped(event)
		w.Uint(r.Events[event])
	}
	w.EndObject()
}

// refusals counts the refusals of a window. The lock of the Log guards it.
type refusals struct {
	each    int       // how many of a caller for an operation are recorded; negative: all
	ends    time.Time // when the window ends; zero: there was no refusal
	written int       // how many were recorded
	askers  int
	callers map[string]map[string]*refused // by caller and operation
}

// refused is what was refused to a caller for an operation.
type refused struct {
	written int
	sum     Record // its Refused is nil if there is nothing to report
}

// WriteRefusal is Write for the records of one request that was refused. So that nobody fills the log with requests
// that are refused, only the first ten refusals of a caller for an operation are recorded in a minute
// (Options.Refusals), and 1000 of all callers; the others are counted. A record of the event RefusalsCounted says how
// many there were. It is written when the minute ends, before the next record of the caller that Write receives, and at
// Close.
func (l *Log) WriteRefusal(ctx context.Context, records ...Record) error {
	if l == nil || len(records) == 0 {
		return nil
	}
	if !l.mayRecord(records) {
		return nil
	}
	return l.add(ctx, records, false)
}

// mayRecord reports whether a refusal is recorded; otherwise it is counted.
func (l *Log) mayRecord(records []Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.refusals
	if s.each < 0 || l.closing {
		return true
	}
	now := time.Now()
	if !s.ends.IsZero() && !now.Before(s.ends) {
		l.endWindow()
	}
	if s.ends.IsZero() {
		s.ends = now.Add(refusalWindow)
		l.signal() // to end it
	}
	r := s.of(&records[0])
	if r.written < s.each && s.written < mostRefusals {
		r.written++
		s.written++
		return true
	}
	r.count(records, l.now())
	return false
}

// of returns what was refused to the caller of a record for its operation.
func (s *refusals) of(r *Record) *refused {
	caller, who := r.Caller.Key(), r.Caller
	if s.callers[caller][r.Operation] == nil && s.askers >= mostAskers {
		caller, who.Subject, who.Issuer = "", "", "" // as one
	}
	operations := s.callers[caller]
	if operations == nil {
		operations = make(map[string]*refused)
		if s.callers == nil {
			s.callers = make(map[string]map[string]*refused)
		}
		s.callers[caller] = operations
	}
	found := operations[r.Operation]
	if found == nil {
		s.askers++
		found = &refused{sum: Record{
			Event: RefusalsCounted, Adapter: r.Adapter, Operation: r.Operation, Endpoint: r.Endpoint,
			DangerLevel: r.DangerLevel, Trust: r.Trust, Outcome: Denied, Caller: who,
		}}
		operations[r.Operation] = found
	}
	return found
}

// count counts a refusal.
func (r *refused) count(records []Record, now time.Time) {
	at := records[0].Time
	if at.IsZero() {
		at = now
	}
	if r.sum.Refused == nil {
		r.sum.Refused = &Refused{From: at, Events: make(map[string]uint64)}
	}
	sum := r.sum.Refused
	sum.Count++
	sum.To = at
	for i := range records {
		event := string(records[i].Event)
		if reason := records[i].Reason; reason != "" {
			event += ": " + clip(reason, 100)
		}
		if _, known := sum.Events[event]; !known && len(sum.Events) >= mostEvents {
			event = "others"
		}
		sum.Events[event]++
	}
}

// take returns the record of what was counted, if anything was, and begins to count anew.
func (r *refused) take(dst []Record, now time.Time) []Record {
	if r.sum.Refused == nil {
		return dst
	}
	sum := r.sum
	sum.Time, sum.ID = now, newID()
	r.sum.Refused = nil
	return append(dst, sum)
}

// counted returns the records of what was counted for the callers of records, which are to be written before them. The
// lock is held.
func (l *Log) counted(records []Record) []Record {
	if l.refusals.ends.IsZero() {
		return nil
	}
	var sums []Record
	for i := range records {
		for _, r := range l.refusals.callers[records[i].Caller.Key()] {
			sums = r.take(sums, l.now())
		}
	}
	return sums
}

// endWindow puts the records of all that was counted into the queue. The lock is held.
func (l *Log) endWindow() {
	for _, operations := range l.refusals.callers {
		for _, r := range operations {
			l.queue = r.take(l.queue, l.now())
		}
	}
	l.refusals = refusals{each: l.refusals.each}
}
