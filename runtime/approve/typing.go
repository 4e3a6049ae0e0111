package approve

import "strings"

// Typing is what a person types to approve: the value of a parameter, so that nobody approves without having read what
// the request is about. The zero value: nothing. The value is no secret, and is to be shown.
type Typing struct {
	Param string `json:"param"`
	Value string `json:"value"`
}

// Accepts reports whether a text approves: that it is the value, but for blanks around it.
func (t Typing) Accepts(text string) bool {
	if t.Param == "" {
		return true
	}
	text = strings.TrimSpace(text)
	return text != "" && text == strings.TrimSpace(t.Value)
}
