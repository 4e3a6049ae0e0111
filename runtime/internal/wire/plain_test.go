package wire

import (
	"bytes"
	"strings"
	"testing"
)

// A value is spelled as people read it, and no spelling of it makes it long.
func TestPlain(t *testing.T) {
	blanks, zeros := strings.Repeat(" \t\r\n", 200), strings.Repeat("0", 600)
	spaced := strings.ReplaceAll(` { "b" : [ 1 , true ] , "a" : null } `, " ", blanks)
	for text, want := range map[string]string{
		spaced:                                 `{"b":[1,true],"a":null}`,
		`"\u0072\u006d \u002d\u0072\u0066 \/"`: `"rm -rf /"`,
		`{"\u0063md":"x\n\u0001"}`:             `{"cmd":"x\n\u0001"}`,
		`1.` + zeros:                           `1`,
		`-1.50`:                                `-1.5`,
		`0.` + zeros:                           `0`,
		`1` + zeros:                            `1e600`,
		`0.` + zeros + `1`:                     `1e-601`,
		`1` + zeros + `e-600`:                  `1`,
		`10e` + zeros + `1`:                    `1e2`,
		`1000000`:                              `1000000`,
		`123456789012345678901234567890`:       `123456789012345678901234567890`,
		`[]`:                                   `[]`,
		`{ }`:                                  `{}`,
	} {
		got, ok := Plain(text)
		if !ok || got != want {
			t.Errorf("%.60s is %.60s, %t, want %s", text, got, ok, want)
		}
		if before, after := Canonical(nil, text), Canonical(nil, got); !bytes.Equal(before, after) {
			t.Errorf("%.60s becomes another value, %.60s", text, got)
		}
	}
	for _, text := range []string{``, `{`, `x`, `1 2`, `{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`} {
		if got, ok := Plain(text); ok {
			t.Errorf("%s is %s", text, got)
		}
	}
}
