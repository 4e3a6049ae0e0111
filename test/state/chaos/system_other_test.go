//go:build unix && !linux

package chaos

import (
	"syscall"
	"testing"
)

func attributes() *syscall.SysProcAttr { return nil }

// disk is a file system whose size changes; there is none here.
type disk struct{}

func newDisk(testing.TB, string) *disk { return nil }

func unmount(string) {}

func (*disk) fill(int) {}
func (*disk) empty()   {}
