package related

import (
	"cmp"
	"encoding/binary"
	"strings"
)

// Position is where an edge stands among those that a walk has found.
type Position struct {
	Depth          int
	Incoming       bool
	Type           string
	Source, Target string // ids of nodes
}

// Position returns the position of an edge.
func (e *Edge) Position() Position {
	return Position{e.Depth, e.Incoming, e.Type, e.Source.ID(), e.Target.ID()}
}

// Compare compares positions: it is negative where p stands in front of q.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(p.Depth, q.Depth), cmp.Compare(p.way(), q.way()), strings.Compare(p.Type, q.Type),
		strings.Compare(p.Source, q.Source), strings.Compare(p.Target, q.Target),
	)
}

// way is 1 for an incoming relationship, and 0 for an outgoing one.
func (p Position) way() byte {
	if p.Incoming {
		return 1
	}
	return 0
}

// Append appends the position to a text for ParsePosition.
func (p Position) Append(out []byte) []byte {
	out = append(out, byte(p.Depth), p.way())
	for _, text := range []string{p.Type, p.Source, p.Target} {
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	return out
}

// ParsePosition reads what Append has written. It reports false for anything else.
func ParsePosition(text []byte) (p Position, ok bool) {
	if len(text) < 2 || text[1] > 1 {
		return p, false
	}
	p.Depth, p.Incoming = int(text[0]), text[1] == 1
	text = text[2:]
	for _, part := range []*string{&p.Type, &p.Source, &p.Target} {
		length, size := binary.Uvarint(text)
		if size <= 0 || length > uint64(len(text)-size) {
			return Position{}, false
		}
		end := size + int(length)
		*part, text = string(text[size:end]), text[end:]
	}
	return p, len(text) == 0
}
