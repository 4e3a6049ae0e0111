package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aqltag/aqltag/internal/atomicfile"
)

// cacheFormat begins every cache entry. It must change with the format of entries.
const cacheFormat = "aql-tag export data 1\n"

// cacheAge is how long export data stays in the cache without being read.
const cacheAge = 30 * 24 * time.Hour

// cache holds the export data of packages, one file each, for one set of modules and one environment. If it is missing,
// damaged or not writable, loading only takes longer.
type cache struct {
	dir string // of this module and environment; empty: there is no cache
	key string
}

func openCache(s *session) (*cache, error) {
	key, err := s.cacheKey()
	if err != nil {
		return nil, err
	}
	c := &cache{key: key}
	if root := CacheDir(s.opts.Cache); root != "" {
		c.dir = filepath.Join(root, "export", key)
		if info, err := os.Stat(c.dir); err == nil && time.Since(info.ModTime()) > cacheAge/10 {
			now := time.Now()
			_ = os.Chtimes(c.dir, now, now) // so that it is not swept; if this fails, it is made again some day
		}
	}
	return c, nil
}

// CacheDir is where aql-tag keeps what it can make again: in dir, or if dir is empty, in aql-tag in the user's cache
// directory. It is empty if dir is "off" or the user has no cache directory.
func CacheDir(dir string) string {
	switch dir {
	case "off":
		return ""
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(user, "aql-tag")
	}
	return dir
}

// cacheKey is a hash of everything that decides which packages exist outside the user's directories and what they hold.
func (s *session) cacheKey() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s%s\n%s\n", cacheFormat, runtime.Version(), toolsVersion())
	h.Write(s.env.raw)
	for _, file := range s.modules.files {
		state, err := ReadFile(file.Name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", state.Name, state.Hash)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// toolsVersion is the version of the package that reads and writes export data.
func toolsVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "golang.org/x/tools" {
				return module.Version
			}
		}
	}
	return ""
}

// unchanged returns an error if the go command has changed go.mod or go.sum since, as it may with -mod=mod.
func (c *cache) unchanged(s *session) error {
	key, err := s.cacheKey()
	if err != nil {
		return err
	}
	if key != c.key {
		return unusual("the go command changed go.mod or go.sum")
	}
	return nil
}

func (c *cache) file(importPath string) string {
	sum := sha256.Sum256([]byte(importPath))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16]))
}

// seal is the hash that an entry carries.
func seal(importPath string, data []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", importPath)
	h.Write(data)
	return h.Sum(nil)
}

// get returns the export data of a package. ok is false if it is missing or damaged.
func (c *cache) get(importPath string) (data []byte, ok bool) {
	if c.dir == "" {
		return nil, false
	}
	content, err := os.ReadFile(c.file(importPath))
	if err != nil {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(content, []byte(cacheFormat))
	if !ok || len(rest) < sha256.Size || !bytes.Equal(rest[:sha256.Size], seal(importPath, rest[sha256.Size:])) {
		return nil, false
	}
	return rest[sha256.Size:], true
}

// put stores export data. Readers see all of it or nothing, even if several processes write.
func (c *cache) put(importPath string, data []byte) {
	if c.dir == "" {
		return
	}
	if _, err := os.Stat(c.dir); err != nil {
		c.sweep()
	}
	content := bytes.Join([][]byte{[]byte(cacheFormat), seal(importPath, data), data}, nil)
	_ = WriteCache(c.file(importPath), content) // without it the next run is slower
}

// sweep removes what was not read for long.
func (c *cache) sweep() {
	parent := filepath.Dir(c.dir)
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > cacheAge {
			os.RemoveAll(filepath.Join(parent, entry.Name()))
		}
	}
}

// WriteCache writes a file of the cache as a whole, with its directories.
func WriteCache(filename string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(filename), 0o755); err != nil {
		return fmt.Errorf("writing the cache: %w", err)
	}
	return atomicfile.Write(filename, content, 0o600)
}
