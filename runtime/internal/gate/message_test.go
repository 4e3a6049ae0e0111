package gate

import "testing"

func TestInterpolate(t *testing.T) {
	values := map[string]string{"todo_id": "t1", "brace": "{todo_id}"}
	value := func(name string, mark rune) (string, bool) {
		v, ok := values[name]
		if name == "mark" {
			return "[" + string(mark) + "]", true
		}
		return v, ok
	}
	tests := []struct{ name, template, want string }{
		{"a parameter", "Delete todo '{todo_id}'?", "Delete todo 't1'?"},
		{"an unknown name stays", "Delete {other}?", "Delete {other}?"},
		{"a value is not a template", "{brace}", "{todo_id}"},
		{"an open brace stays", "Delete {todo_id", "Delete {todo_id"},
		{"no parameter", "Sure?", "Sure?"},
		{"marks around", "'{mark}' \"{mark}\" “{mark}” «{mark}»", "'[']' \"[\"]\" “[”]” «[»]»"},
		{"marks that do not belong together", "{mark} '{mark} {mark}' “{mark}\" '{other}{mark}'",
			"[\x00] '[\x00] [\x00]' “[\x00]\" '{other}[\x00]'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Interpolate(tt.template, value); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
