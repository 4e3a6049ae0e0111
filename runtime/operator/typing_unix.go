//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package operator

import (
	"os"
	"syscall"
	"unsafe"
)

// hideTyping stops a terminal from showing what is typed, until show is called.
func hideTyping(terminal *os.File) (show func() error, err error) {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return nil, err
	}
	var before syscall.Termios
	control := func(request uintptr, settings *syscall.Termios) error {
		var failure syscall.Errno
		err := raw.Control(func(fd uintptr) {
			_, _, failure = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(settings)))
		})
		if err == nil && failure != 0 {
			err = failure
		}
		return err
	}
	if err := control(readSettings, &before); err != nil {
		return nil, err
	}
	hidden := before
	hidden.Lflag &^= syscall.ECHO
	hidden.Lflag |= syscall.ICANON | syscall.ISIG
	return func() error { return control(writeSettings, &before) }, control(writeSettings, &hidden)
}
