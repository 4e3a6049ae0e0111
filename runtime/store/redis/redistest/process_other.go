//go:build !linux

package redistest

import (
	"errors"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

var errFreeze = errors.New("processes can be frozen on Linux alone")

func freeze(*os.Process) error { return errFreeze }
func thaw(*os.Process) error   { return errFreeze }
