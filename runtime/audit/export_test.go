package audit

import (
	"context"
	"errors"
	"os"
	"testing"
)

// MaxLine is how long a line of a chain may be.
const MaxLine = maxLine

// ErrDisk is what a broken disk fails with.
var ErrDisk = errors.New("no space left on the device")

// DiskFault is what a disk does wrong.
type DiskFault struct {
	Write    int // how many bytes of a write it takes; negative: all
	Sync     bool
	Truncate bool
}

// Break breaks the disk under a File until heal is called.
func Break(f *File, fault DiskFault) (heal func()) {
	f.out = &brokenDisk{File: f.file, fault: fault}
	return func() { f.out = f.file }
}

type brokenDisk struct {
	*os.File
	fault DiskFault
}

func (d *brokenDisk) Write(p []byte) (int, error) {
	if d.fault.Write < 0 {
		return d.File.Write(p)
	}
	n, err := d.File.Write(p[:min(d.fault.Write, len(p))])
	return n, errors.Join(err, ErrDisk)
}

func (d *brokenDisk) Sync() error {
	if d.fault.Sync {
		return ErrDisk
	}
	return d.File.Sync()
}

func (d *brokenDisk) Truncate(size int64) error {
	if d.fault.Truncate {
		return ErrDisk
	}
	return d.File.Truncate(size)
}

// LockForTest locks a file as another process would.
func LockForTest(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock(t.Context(), f, exclusive); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

// OnStep calls do between the steps of a rotation, with the name of the step that is done.
func OnStep(f *File, do func(step string)) { f.step = do }

// VerifyFileAt is VerifyFile, which calls do each time that it has listed the files.
func VerifyFileAt(ctx context.Context, path string, opts VerifyOptions, do func()) (Summary, error) {
	return verifyFile(ctx, path, opts, do)
}

// Steps are the steps of a rotation.
var Steps = []string{"linked", "written", "closed", "renamed"}
