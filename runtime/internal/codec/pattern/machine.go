package pattern

import "unicode/utf8"

// machine is a deterministic automaton over classes of characters. A state is the offset of its row in next. A row has an
// entry for each class, and one for the end of the string, which leads to a verdict.
//
// Its alphabet is characters and not bytes because a character of three bytes would need states of its own in the midst of
// it, and those again in each state of the expression: \p{L}{2,63} has 66 states this way and ten thousand the other.
type machine struct {
	alphabet
	next  []uint16
	start uint16
}

// The verdicts are the states without a row.
const (
	rejected = iota // whatever follows
	accepted        // whatever follows
	verdicts
)

func (m *machine) match(s string) bool {
	state, next, ascii := m.start, m.next, &m.ascii
	for i := 0; i < len(s) && state >= verdicts; {
		if c := s[i]; c < utf8.RuneSelf {
			state = next[int(state)+int(ascii[c])]
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(s[i:])
		state = m.next[int(state)+int(m.beyond(char))]
		i += size
	}
	if state >= verdicts {
		state = m.next[int(state)+m.classes]
	}
	return state == accepted
}
