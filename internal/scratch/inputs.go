package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// declare makes all files of the repository inputs of the running test.
//
// The go command caches the result of a test and reuses it as long as the files are the same that the test opened. It
// does not see what programs read that the test starts, and it ignores files outside the test's module, which it
// recognises by the beginning of their names. So declare reads every folder itself, under a name that begins with the
// module's folder: /repository/test/../emit for a test of the module /repository/test. The go command then compares the
// names, sizes and times of all files in these folders.
func declare(repository string) error {
	module, err := folderWith("go.mod")
	if err != nil {
		return err
	}
	back, err := filepath.Rel(module, repository)
	if err != nil {
		return err
	}
	prefix := module
	if back != "." {
		prefix += string(filepath.Separator) + back
	}
	// The top folder is listed under its own name: under the other one, every change of .git would count.
	entries, err := os.ReadDir(repository)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := prefix + string(filepath.Separator) + entry.Name()
		switch {
		case !entry.IsDir():
			_, err = os.Stat(name)
		case entry.Name() != "bin":
			err = declareFolder(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// declareFolder reads a folder and all below it, apart from hidden ones and what npm installs.
func declareFolder(folder string) error {
	if name := filepath.Base(folder); strings.HasPrefix(name, ".") || name == "node_modules" {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if err := declareFolder(folder + string(filepath.Separator) + entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// folderWith returns the nearest folder at or above the working directory that has a file with the name.
func folderWith(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no folder above has a file %s", name)
		}
		dir = parent
	}
}
