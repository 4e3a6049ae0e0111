//go:build !unix

package mcpclient

import "os/exec"

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) {}

// endGroup ends the command by force; there is no other way.
func endGroup(command *exec.Cmd, force bool) {
	if force {
		command.Process.Kill() //nolint:errcheck // it may have ended
	}
}
