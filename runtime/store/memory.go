package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostEntries is the default of Memory.MaxEntries.
const mostEntries = 1 << 20

// ErrFull is the error of a change for which a store has no space. A store does not discard state to make space: that
// state could be a limit.
var ErrFull = errors.New("the store is full")

// Memory is a store in the memory of one process. Its zero value is ready to use.
type Memory struct {
	// MaxEntries bounds how many entries and counters there are in total; default 1,048,576.
	MaxEntries int
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	mu       sync.Mutex
	version  Version
	entries  map[string]memoryEntry
	counters map[string]*memoryCounter
	sweep    int       // number of entries and counters at which expired ones are removed next
	swept    time.Time // when expired ones were last removed

	listeners Listeners
}

type memoryEntry struct {
	value   []byte
	version Version
	expires time.Time // zero: never
}

type memoryCounter struct {
	Counter
	expires time.Time
}

func (m *Memory) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	return time.Now()
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.live(key, m.now())
	if e.version == 0 {
		return Entry{Key: key}, nil
	}
	return Entry{Key: key, Value: bytes.Clone(e.value), Version: e.version}, nil
}

// live returns the entry of a key unless it has expired. The lock is held.
func (m *Memory) live(key string, now time.Time) memoryEntry {
	e := m.entries[key]
	if !e.expires.IsZero() && !now.Before(e.expires) {
		return memoryEntry{}
	}
	return e
}

// Put implements Store. It fails with ErrFull if there is no space for another entry.
func (m *Memory) Put(
	ctx context.Context, key string, value []byte, old Version, ttl time.Duration,
) (Version, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.live(key, now).version != old {
		return 0, ErrConflict
	}
	if old == 0 && !m.hasSpace(1, now) {
		return 0, ErrFull
	}
	m.version++
	e := memoryEntry{value: bytes.Clone(value), version: m.version}
	if ttl > 0 {
		e.expires = now.Add(ttl.Truncate(time.Millisecond))
	}
	if m.entries == nil {
		m.entries = make(map[string]memoryEntry)
	}
	m.entries[key] = e
	return e.version, nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, key string, old Version) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.live(key, m.now()); e.version == 0 || e.version != old {
		return ErrConflict
	}
	delete(m.entries, key)
	return nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, prefix, after string, limit int) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []Entry
	for _, key := range m.first(prefix, after, limit) {
		e := m.entries[key]
		found = append(found, Entry{Key: key, Value: bytes.Clone(e.value), Version: e.version})
	}
	return found, nil
}

// first returns the first keys, up to limit of them, as List does. The lock is held.
func (m *Memory) first(prefix, after string, limit int) []string {
	const fewest = 1024 // that are worth sorting
	var keys []string
	now, last := m.now(), "" // of the first keys so far; empty: there are fewer than limit
	for key := range m.entries {
		if key <= after || last != "" && key > last || !strings.HasPrefix(key, prefix) || m.live(key, now).version == 0 {
			continue
		}
		if keys = append(keys, key); len(keys) >= fewest && len(keys)/2 >= limit {
			slices.Sort(keys)
			keys, last = keys[:limit], keys[limit-1]
		}
	}
	slices.Sort(keys)
	return keys[:min(len(keys), limit)]
}

// Take implements Store. It fails with ErrFull if there is no space for another counter.
func (m *Memory) Take(ctx context.Context, claims []Claim) ([]Count, error) {
	if err := cmp.Or(ctx.Err(), CheckClaims(claims)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if !m.hasSpace(len(claims), now) {
		return nil, ErrFull
	}
	states := make([]Counter, len(claims))
	for i, claim := range claims {
		if c, ok := m.counters[claim.Key]; ok && now.Before(c.expires) {
			states[i] = c.Counter
		}
	}
	counts, taken := TakeAll(states, claims, now)
	if !taken {
		return counts, nil
	}
	if m.counters == nil {
		m.counters = make(map[string]*memoryCounter)
	}
	for i, claim := range claims {
		if claim.N == 0 {
			continue
		}
		c := m.counters[claim.Key]
		if c == nil {
			c = new(memoryCounter)
			m.counters[claim.Key] = c
		}
		c.Counter, c.expires = states[i], now.Add(states[i].Keep(claim, now))
	}
	return counts, nil
}

// hasSpace reports whether there is space for n more entries or counters. If it is time to, it first removes expired
// ones. The lock is held.
func (m *Memory) hasSpace(n int, now time.Time) bool {
	most := cmp.Or(m.MaxEntries, mostEntries)
	held := len(m.entries) + len(m.counters) + n
	if held < m.sweep || held <= 1024 && held <= most || held > most && now.Sub(m.swept) < time.Second {
		return held <= most
	}
	for key := range m.entries {
		if m.live(key, now).version == 0 {
			delete(m.entries, key)
		}
	}
	for key, c := range m.counters {
		if !now.Before(c.expires) {
			delete(m.counters, key)
		}
	}
	held = len(m.entries) + len(m.counters) + n
	m.sweep, m.swept = min(2*held, most+1), now
	return held <= most
}

// Notify implements Notifier.
func (m *Memory) Notify(ctx context.Context, topic string) error {
	if err := cmp.Or(ctx.Err(), CheckTopic(topic)); err != nil {
		return err
	}
	m.listeners.Tell(topic)
	return nil
}

// Listen implements Notifier.
func (m *Memory) Listen(ctx context.Context, topic string) <-chan struct{} {
	return m.listeners.Listen(ctx, topic)
}

var _ Notifier = (*Memory)(nil)

// Close implements Store. It removes everything, and ends all listening.
func (m *Memory) Close() error {
	m.listeners.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.entries)
	clear(m.counters)
	return nil
}
