// Package messages has a message of protocol buffers with a field of each kind.
package messages

//go:generate protoc --go_out=paths=source_relative:. messages.proto
