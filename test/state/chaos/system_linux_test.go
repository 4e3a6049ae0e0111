package chaos

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// attributes makes a process end when the test is killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// disk is a file system in memory, whose size changes.
type disk struct {
	t    testing.TB
	path string
}

// roomy is the size of a disk that is not full, in MiB.
const roomy = 2048

// newDisk mounts a disk on a folder. It returns nil if the test may not mount.
func newDisk(t testing.TB, path string) *disk {
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dm", roomy)); err != nil {
		return nil
	}
	t.Cleanup(func() { syscall.Unmount(path, syscall.MNT_DETACH) })
	return &disk{t, path}
}

// unmount unmounts the disks of all worlds in a folder.
func unmount(folder string) {
	for _, name := range []string{"state", "audit"} {
		mounted, _ := filepath.Glob(filepath.Join(folder, "*", name))
		for _, path := range mounted {
			syscall.Unmount(path, syscall.MNT_DETACH)
		}
	}
}

// fill leaves room for so many bytes more, in whole pages.
func (d *disk) fill(room int) {
	for {
		var s syscall.Statfs_t
		if err := syscall.Statfs(d.path, &s); err != nil {
			d.t.Fatal(err)
		}
		used := int64(s.Blocks-s.Bfree) * s.Bsize
		// It fails where more was written meanwhile than there is to be room for.
		if syscall.Mount("tmpfs", d.path, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", used+int64(room))) == nil {
			return
		}
	}
}

// empty makes room.
func (d *disk) empty() {
	if err := syscall.Mount("tmpfs", d.path, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm", roomy)); err != nil {
		d.t.Fatal(err)
	}
}
