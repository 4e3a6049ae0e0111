package console

import "syscall"

// errInUse is the error of listening on an address that another process has: WSAEADDRINUSE.
const errInUse = syscall.Errno(10048)
