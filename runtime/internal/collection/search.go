package collection

import "strings"

// Words returns the words of a text, and the phrases in it that stand between quotation marks, with ASCII letters
// small.
func Words(text string) []string {
	var words []string
	for i, part := range strings.Split(Lower(text), `"`) {
		if i%2 == 1 {
			if part = strings.TrimSpace(part); part != "" {
				words = append(words, part)
			}
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// Searching returns a node that holds where node does and one of the fields contains one of the words.
func Searching(node *Node, fields []*Field, words []string) *Node {
	if len(words) == 0 {
		return node
	}
	found := Condition{Op: Search} // without a field to look into, too
	for _, f := range fields {
		for _, word := range words {
			found.Or = append(found.Or, &Node{All: []Condition{{Field: f, Op: Search, Value: Value{Text: word}}}})
		}
	}
	both := &Node{}
	if node != nil {
		both.All = append(both.All, node.All...)
	}
	both.All = append(both.All, found)
	return both
}
