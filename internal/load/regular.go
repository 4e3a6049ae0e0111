package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aqltag/aqltag/internal/plainfile"
)

// checkRegular fails if a Go file in a folder that the patterns name is none. The go command would read a named pipe
// for ever.
func checkRegular(opts Options) error {
	patterns := opts.Patterns
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	for _, pattern := range patterns {
		folder, deep := strings.CutSuffix(filepath.ToSlash(pattern), "/...")
		switch {
		case folder == "...":
			folder, deep = ".", true
		case strings.Contains(folder, "..."), !strings.HasPrefix(folder, ".") && !filepath.IsAbs(pattern):
			continue // import paths
		}
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(opts.Dir, folder)
		}
		if err := checkFolder(folder, deep); err != nil {
			return err
		}
	}
	return nil
}

func checkFolder(folder string, deep bool) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil // the go command says so
		case err != nil:
			return err
		case entry.IsDir() && path != folder:
			name := entry.Name()
			if !deep || hidden(name) || name == "vendor" || name == "testdata" || name == "node_modules" {
				return fs.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" || entry.Type().IsRegular():
			return nil
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil // the go command leaves folders out, whatever their names
		}
		if err := plainfile.Readable(path); err != nil {
			return fmt.Errorf("loading packages: %w", err)
		}
		return nil
	})
}
