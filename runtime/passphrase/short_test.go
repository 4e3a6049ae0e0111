package passphrase

import "testing"

// A passphrase is as long as it has characters, in whatever script it is.
func TestShort(t *testing.T) {
	for typed, want := range map[string]bool{
		"": true, "elevenchars": true, "twelve chars": false, "парольпарол": true, "парольпароль": false,
		"密码密码密码密码密码密": true, "密码密码密码密码密码密码": false,
	} {
		if Short(typed) != want {
			t.Errorf("%q is short: %t", typed, !want)
		}
	}
}
