// Package atomicfile writes files that are never seen half-written.
package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write gives a file new content by renaming a complete file over it. The file gets the mode. Whatever goes wrong, the
// file is as it was or as it should be, and nothing else is left in its directory.
func Write(name string, content []byte, mode fs.FileMode) error {
	if err := write(name, content, mode); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func write(name string, content []byte, mode fs.FileMode) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temporary.Name())
		}
	}()
	if _, err = temporary.Write(content); err == nil {
		err = temporary.Chmod(mode)
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
