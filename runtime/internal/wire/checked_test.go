package wire

import (
	"errors"
	"testing"
)

// A13, REQ-DE-10: JSON that a user's code made is written as it is, unless a client could misread it, or the answer
// would exceed its levels.
func TestChecked(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
		fails      string // empty: it does not
	}{
		"a value":                      {text: `{"a":[1,{"a":null}],"b":"a"}`, want: `[{"a":[1,{"a":null}],"b":"a"}]`},
		"a scalar":                     {text: `1e400`, want: `[1e400]`},
		"what no client has to accept": {text: `"\u0000\ud800\udc00\udc00"`, want: `["\u0000\ud800\udc00\udc00"]`},
		"invalid UTF-8":                {text: "\"\xff\"", want: "[\"\ufffd\"]"},
		"a name that stands twice": {
			text: `{"a":1,"b":{"c":1,"\u0063":2}}`, fails: `the name "c" stands twice in one object`,
		},
		"the most levels": {text: `[[[]]]`, want: `[[[[]]]]`},
		"a level more": {
			text: `[[[{}]]]`, fails: "wire: the value is nested too deeply: the limit is 4 levels",
		},
		"two values": {text: `1 2`, fails: "something follows the JSON value (byte 2)"},
		"nothing":    {text: ``, fails: "the JSON value is cut off (byte 0)"},
		"half of an escape after a text": {
			text: `"a\u00"`, fails: "'\\u' is not followed by four hexadecimal digits (byte 2)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWriter(nil)
			w.SetMaxDepth(4)
			w.BeginArray()
			err := w.Checked(tt.text)
			if tt.fails != "" {
				if err == nil || err.Error() != tt.fails || string(w.Bytes()) != "[" {
					t.Errorf("error %v, written %s", err, w.Bytes())
				}
				return
			}
			if w.EndArray(); err != nil || string(w.Bytes()) != tt.want {
				t.Errorf("error %v, written %s", err, w.Bytes())
			}
		})
	}
}

// A value that may have no level at all can still be a scalar.
func TestCheckedAtTheLimit(t *testing.T) {
	w := NewWriter(nil)
	w.SetMaxDepth(1)
	w.BeginArray()
	if err := w.Checked("1"); err != nil {
		t.Error(err)
	}
	if err := w.Checked("{}"); !errors.Is(err, ErrTooDeep) {
		t.Errorf("got %v", err)
	}
}
