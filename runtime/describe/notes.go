package describe

import "strings"

// notes is a text of several sentences. A note in brackets belongs to the sentence before it.
type notes struct{ text strings.Builder }

func (n *notes) add(sentence string) {
	sentence = strings.TrimSpace(sentence)
	if sentence == "" {
		return
	}
	if before := n.text.String(); before != "" {
		if !strings.HasPrefix(sentence, "[") && !strings.ContainsAny(before[len(before)-1:], ".!?:]") {
			n.text.WriteByte('.')
		}
		n.text.WriteByte(' ')
	}
	n.text.WriteString(sentence)
}

func (n *notes) String() string { return n.text.String() }

// sentences returns a text of these sentences.
func sentences(list ...string) string {
	var n notes
	for _, sentence := range list {
		n.add(sentence)
	}
	return n.String()
}
