package store

import "context"

// Notifier is a Store that tells the processes that share it of changes. Its methods are hints: who is told looks at
// the store again, and may find that nothing has changed. A hint can be lost with a connection, so who waits looks at
// the store from time to time as well.
type Notifier interface {
	Store
	// Notify tells all who listen to a topic, in every process that has opened the same location, that something has
	// changed. A topic is up to 64 letters, digits and the characters . _ / and -. Notify does not wait for those who
	// listen.
	Notify(ctx context.Context, topic string) error
	// Listen returns a channel that receives when somebody may have notified the topic since Listen was called. It holds
	// one value: who is slow is told once of all that has happened meanwhile. A value is also sent when the connection to
	// the store is made, or made again after it was lost, and where the store cannot tell topics apart. The channel is
	// closed when ctx ends or the store is closed. While nobody listens, a store has no goroutine and no connection for
	// that.
	Listen(ctx context.Context, topic string) <-chan struct{}
}
