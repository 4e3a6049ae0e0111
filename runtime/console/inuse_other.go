//go:build !windows

package console

import "syscall"

// errInUse is the error of listening on an address that another process has.
const errInUse = syscall.EADDRINUSE
