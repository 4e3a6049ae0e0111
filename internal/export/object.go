package export

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	text.WriteByte('{')
	for i, member := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := encoder.Encode(member.Name); err != nil {
			return nil, fmt.Errorf("member %q: %w", member.Name, err)
		}
		text.WriteByte(':')
		if err := encoder.Encode(member.Value); err != nil {
			return nil, fmt.Errorf("member %q: %w", member.Name, err)
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}
