package store

import (
	"context"
	"fmt"
	"sync"
)

// longestTopic bounds a topic, in bytes.
const longestTopic = 64

// CheckTopic returns what is wrong with a topic of Notify.
func CheckTopic(topic string) error {
	for _, c := range []byte(topic) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '/', c == '-':
		default:
			return fmt.Errorf("the topic %.64q has a character that is none of letters, digits and . _ / -", topic)
		}
	}
	if topic == "" || len(topic) > longestTopic {
		return fmt.Errorf("the topic %.64q has %d bytes; it has 1 to %d", topic, len(topic), longestTopic)
	}
	return nil
}

// Listeners are those who listen to a store, for the methods of a Notifier. The zero value is ready to use.
type Listeners struct {
	// Receive, unless nil, receives what other processes notify, and calls Tell or TellAll. It runs in a goroutine of its
	// own while somebody listens, and returns when ctx ends.
	Receive func(ctx context.Context)

	mu      sync.Mutex
	topics  map[string]map[chan struct{}]struct{}
	stop    context.CancelFunc // ends Receive; nil: it does not run
	ended   chan struct{}      // is closed when the last Receive has returned; nil: there was none
	closed  bool
	waiting sync.WaitGroup
}

// Listen is Notifier.Listen.
func (l *Listeners) Listen(ctx context.Context, topic string) <-chan struct{} {
	told := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || ctx.Err() != nil {
		close(told)
		return told
	}
	if l.topics == nil {
		l.topics = make(map[string]map[chan struct{}]struct{})
	}
	if l.topics[topic] == nil {
		l.topics[topic] = make(map[chan struct{}]struct{})
	}
	l.topics[topic][told] = struct{}{}
	if l.stop == nil && l.Receive != nil {
		l.start()
	}
	context.AfterFunc(ctx, func() { l.leave(topic, told) })
	return told
}

// start runs Receive when the one before it has returned. The lock is held.
func (l *Listeners) start() {
	ctx, stop := context.WithCancel(context.Background())
	before, ended := l.ended, make(chan struct{})
	l.stop, l.ended = stop, ended
	l.waiting.Go(func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		l.Receive(ctx)
	})
}

// leave takes out one who listened.
func (l *Listeners) leave(topic string, told chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.topics[topic][told]; !there { // Close was faster
		return
	}
	close(told)
	if delete(l.topics[topic], told); len(l.topics[topic]) > 0 {
		return
	}
	if delete(l.topics, topic); len(l.topics) == 0 && l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// Tell tells those who listen to a topic. It never waits.
func (l *Listeners) Tell(topic string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tell(l.topics[topic])
}

// TellAll tells all who listen, to whatever topic: after a time in which it is unknown what was notified.
func (l *Listeners) TellAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, listening := range l.topics {
		tell(listening)
	}
}

func tell(listening map[chan struct{}]struct{}) {
	for told := range listening {
		select {
		case told <- struct{}{}:
		default: // it has not looked yet
		}
	}
}

// Close ends all listening, and returns when Receive has. Later channels are closed at once.
func (l *Listeners) Close() {
	l.mu.Lock()
	l.closed = true
	for _, listening := range l.topics {
		for told := range listening {
			close(told)
		}
	}
	clear(l.topics)
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.mu.Unlock()
	l.waiting.Wait()
}
