package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Sink stores records.
type Sink interface {
	// Write stores records, as durably as the sink promises, and returns nil when it has stored all of them. It returns
	// when ctx ends, and does not use the records afterwards. After an error, it may be called again with the same
	// records.
	Write(ctx context.Context, records []Record) error
	Close() error
}

// Slog returns a sink that passes every record to a logger's handler, whatever the logger's level: denials and failures
// as warnings, other records as information.
func Slog(logger *slog.Logger) Sink { return slogSink{logger.Handler()} }

type slogSink struct{ handler slog.Handler }

func (slogSink) String() string { return "slog" }

func (slogSink) Close() error { return nil }

func (s slogSink) Write(ctx context.Context, records []Record) error {
	for i := range records {
		if err := s.handler.Handle(ctx, entry(&records[i])); err != nil {
			return fmt.Errorf("logging an audit record: %w", err)
		}
	}
	return nil
}

// entry returns the log entry of a record, with the names of the JSON form.
func entry(r *Record) slog.Record {
	level := slog.LevelInfo
	if r.Outcome == Denied || r.Outcome == Failure || r.Event == RecordsDropped {
		level = slog.LevelWarn
	}
	e := slog.NewRecord(r.Time, level, "audit", 0)
	members, err := attributes(r)
	if err != nil { // AppendJSON writes JSON, so this does not happen
		e.AddAttrs(slog.String("record", string(r.AppendJSON(nil))))
		return e
	}
	e.AddAttrs(members...)
	return e
}

// attributes returns the members of the JSON form, so that all sinks have the same.
func attributes(r *Record) ([]slog.Attr, error) {
	d := json.NewDecoder(bytes.NewReader(r.AppendJSON(nil)))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return members(d)
}

// members reads the members of an object after its opening brace.
func members(d *json.Decoder) ([]slog.Attr, error) {
	var attrs []slog.Attr
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var attr slog.Attr
		switch key := name.(string); key {
		case "parameters", "parameters_cut", "refused_events":
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				return nil, err
			}
			attr = slog.Any(key, raw)
		case "client_context":
			if _, err := d.Token(); err != nil {
				return nil, err
			}
			group, err := members(d)
			if err != nil {
				return nil, err
			}
			attr = slog.GroupAttrs(key, group...)
		default:
			var value any
			if err := d.Decode(&value); err != nil {
				return nil, err
			}
			if number, ok := value.(json.Number); ok {
				n, err := number.Int64()
				if err != nil {
					return nil, err
				}
				value = n
			}
			attr = slog.Any(key, value)
		}
		attrs = append(attrs, attr)
	}
	_, err := d.Token()
	return attrs, err
}

// Store returns a sink that puts each record's JSON form into a store. The key is audit/<adapter>/<time>-<id>, so that
// the keys of an adapter are in the order of time: time is the nanoseconds since 1970 in 20 digits, and id has 16
// hexadecimal digits. Records expire after ttl; zero: never. Closing the sink does not close the store.
func Store(s store.Store, ttl time.Duration) Sink { return &storeSink{store: s, ttl: ttl} }

type storeSink struct {
	store store.Store
	ttl   time.Duration
}

func (s *storeSink) String() string { return "store" }

func (s *storeSink) Close() error { return nil }

func (s *storeSink) Write(ctx context.Context, records []Record) error {
	for i := range records {
		if err := s.put(ctx, &records[i]); err != nil {
			return fmt.Errorf("storing an audit record: %w", err)
		}
	}
	return nil
}

// put stores a record once, even if it is called again for it: a call that failed may have stored the record.
func (s *storeSink) put(ctx context.Context, r *Record) error {
	id := r.ID
	if id == 0 {
		id = newID()
	}
	key := fmt.Sprintf("audit/%s/%020d-%016x", r.Adapter, max(timeOf(r.Time).UnixNano(), 0), id)
	value := r.AppendJSON(nil)
	_, err := s.store.Put(ctx, key, value, 0, s.ttl)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	there, err := s.store.Get(ctx, key)
	if err != nil {
		return err
	}
	if !bytes.Equal(there.Value, value) {
		return fmt.Errorf("another record has its place: %w", store.ErrConflict)
	}
	return nil
}

// newID returns a random number other than zero. It is not secret.
func newID() uint64 { return max(rand.Uint64(), 1) }
