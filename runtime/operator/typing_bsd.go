//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package operator

import "syscall"

const readSettings, writeSettings = syscall.TIOCGETA, syscall.TIOCSETA
