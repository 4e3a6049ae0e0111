package audit_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// Everyone who needs a key reads the same one, with any line break at the end of its file (C11).
func TestReadKey(t *testing.T) {
	raw := string(secret[:31]) + "\n" // 32 random bytes may end so
	for _, tt := range []struct {
		name, text string
		mode       fs.FileMode
		want, err  string
	}{
		{"as it is", string(secret), 0o600, string(secret), ""},
		{"with a line break", string(secret) + "\r\n", 0o600, string(secret), ""},
		{"of 64 digits", strings.Repeat("0a", 32) + "\n", 0o600, strings.Repeat("0a", 32), ""},
		{"any bytes", "\x00\n 0123456789abcdef0123456789abcdef ", 0o400, "\x00\n 0123456789abcdef0123456789abcdef ", ""},
		{"a line break in the 32nd place is part of it", raw, 0o600, raw, ""},
		{"for the group of a service", string(secret), 0o440, string(secret), ""},
		{"short", "0123456789abcde\n", 0o600, "", "from 32 to 4096 bytes"},
		{"long", strings.Repeat("x", 5000), 0o600, "", "from 32 to 4096 bytes"},
		{"empty", "", 0o600, "", "from 32 to 4096 bytes"},
		{"everybody can read it", string(secret), 0o604, "", "its mode is 0604: everybody can read it"},
		{"others can change it", string(secret), 0o620, "", "its mode is 0620"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.mode&0o026 != 0 && runtime.GOOS == "windows" {
				t.Skip("files have no such permissions")
			}
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			got, err := audit.ReadKey(path)
			if string(got) != tt.want || (err == nil) != (tt.err == "") ||
				err != nil && (!strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), path)) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	if _, err := audit.ReadKey(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
