package desktop

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// appleScript returns a script for osascript. The texts are in it as numbers, so none of their characters is a part of
// the program.
func appleScript(title, text string) string {
	return "display notification (" + stringID(text) + ") with title (" + stringID(title) + ")\n"
}

// stringID returns an expression of AppleScript whose value is a text.
func stringID(text string) string {
	var numbers []string
	for _, r := range text {
		numbers = append(numbers, strconv.Itoa(int(r)))
	}
	return "string id {" + strings.Join(numbers, ", ") + "}"
}

// powerShell returns a script for Windows PowerShell, in one line: what it reads from standard input it runs line by
// line. The texts are in it in base64, so none of their characters is a part of the program.
func powerShell(title, text string) string {
	const manager = "Windows.UI.Notifications.ToastNotificationManager"
	const shell = `{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe` // who shows it
	statements := []string{
		"$ErrorActionPreference = 'Stop'",
		"$null = [" + manager + ", Windows.UI.Notifications, ContentType = WindowsRuntime]",
		"$toast = [" + manager + "]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)",
		"$texts = $toast.GetElementsByTagName('text')",
		"$null = $texts.Item(0).AppendChild($toast.CreateTextNode(" + decoded(title) + "))",
		"$null = $texts.Item(1).AppendChild($toast.CreateTextNode(" + decoded(text) + "))",
		"$show = [Windows.UI.Notifications.ToastNotification]::new($toast)",
		"[" + manager + "]::CreateToastNotifier('" + shell + "').Show($show)",
		"exit 0",
	}
	return "try { " + strings.Join(statements, "; ") + " } catch { exit 1 }\n"
}

// decoded returns an expression of PowerShell whose value is a text.
func decoded(text string) string {
	return "[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('" +
		base64.StdEncoding.EncodeToString([]byte(text)) + "'))"
}

// inherited are the variables that the programs of desktops need. What else is in the environment of an adapter is none
// of their business.
var inherited = []string{
	"HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "__CF_USER_TEXT_ENCODING", // macOS
	"SystemRoot", "SystemDrive", "windir", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "ProgramData",
	"ProgramFiles", "TEMP", "TMP", "PATHEXT", "COMPUTERNAME", "PSModulePath",
}

// runScript runs a program, whose path is absolute, with a script on its standard input: arguments and environment can
// be read by others. The error has nothing of what the program has printed, which may have the texts.
func runScript(ctx context.Context, script, program string, args ...string) error {
	run := exec.CommandContext(ctx, program, args...)
	run.Stdin, run.WaitDelay = strings.NewReader(script), time.Second
	run.Env = []string{} // nil would be all
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			run.Env = append(run.Env, name+"="+value)
		}
	}
	err := run.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%s shows nothing: %s", program, ended.ProcessState)
	}
	if err != nil {
		return fmt.Errorf("showing a notification: %w", err)
	}
	return nil
}
