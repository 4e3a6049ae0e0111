//go:build unix

package mcpclient

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command that is not started yet a process group, for endGroup.
func ownGroup(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup signals the processes that a command started, and the command, to end; by force they cannot refuse.
func endGroup(command *exec.Cmd, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	syscall.Kill(-command.Process.Pid, signal) //nolint:errcheck // all may have ended
}
