package desktop

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// texts are hostile to programs that would put them into a script as they are.
var texts = []string{
	"1 item waits", `"; do shell script "id"; "`, "'); Remove-Item C:\\ -Recurse; ('", "$(id) `id` %PATH% ${x}",
	"naïve 🚧 日本\nline",
}

var (
	numbers = regexp.MustCompile(
		`^display notification \(string id \{([\d, ]+)\}\) with title \(string id \{([\d, ]+)\}\)\n$`)
	encoded = regexp.MustCompile(`FromBase64String\('([A-Za-z0-9+/=]+)'\)`)
)

// What a script shows is the text, and its other characters are the same for all texts.
func TestScriptsShowTheTexts(t *testing.T) {
	for _, text := range texts {
		script := appleScript("title "+text, text)
		found := numbers.FindStringSubmatch(script)
		if found == nil {
			t.Fatalf("the script is %q", script)
		}
		for i, want := range []string{text, "title " + text} {
			var got strings.Builder
			for number := range strings.SplitSeq(found[i+1], ", ") {
				r, err := strconv.Atoi(number)
				if err != nil {
					t.Fatal(err)
				}
				got.WriteRune(rune(r))
			}
			if got.String() != want {
				t.Errorf("osascript shows %q, want %q", &got, want)
			}
		}
		script = powerShell("title "+text, text)
		values := encoded.FindAllStringSubmatch(script, -1)
		if len(values) != 2 || strings.Count(script, "\n") != 1 {
			t.Fatalf("the script is %q", script)
		}
		for i, want := range []string{"title " + text, text} {
			got, err := base64.StdEncoding.DecodeString(values[i][1])
			if err != nil || string(got) != want {
				t.Errorf("PowerShell shows %q, %v; want %q", got, err, want)
			}
		}
		other := encoded.ReplaceAllString(powerShell("a", "b"), "")
		if got := encoded.ReplaceAllString(script, ""); got != other {
			t.Errorf("the text %q changes the script to %q", text, got)
		}
	}
}

// A script is on the standard input of its program, and what it shows is in no argument and no variable; nor are the
// secrets of the adapter's environment.
func TestScriptsAreOnStandardInput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a script of a shell, which Windows does not run")
	}
	t.Setenv("ADAPTER_SECRET", "hunter2")
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	shell := "#!/bin/sh\ncat > " + dir + "/stdin\nenv > " + dir + "/env\necho \"$@\" > " + dir + "/args\n"
	if err := os.WriteFile(program, []byte(shell), 0o700); err != nil {
		t.Fatal(err)
	}
	script := appleScript("title", "text")
	if err := runScript(t.Context(), script, program, "-"); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, name := range []string{"stdin", "env", "args"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(text)
	}
	if got["stdin"] != script || got["args"] != "-\n" {
		t.Errorf("the program gets %q, with the arguments %q", got["stdin"], got["args"])
	}
	for _, secret := range []string{"hunter2", "title"} {
		if strings.Contains(got["env"], secret) || !strings.Contains(got["env"], "HOME=") {
			t.Errorf("the environment of the program is %s", got["env"])
		}
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := runScript(t.Context(), script, program, "-")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || strings.Contains(err.Error(), "string id") {
		t.Errorf("a program that fails is %v", err)
	}
}
