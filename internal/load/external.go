package load

import (
	"bytes"
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// externals are the packages from export data. They are read in the background while sources are parsed.
type externals struct {
	session  *session
	cache    *cache
	queue    chan string
	finished chan struct{}

	// Only the reading goroutine uses these until finished is closed.
	wanted   []string
	missing  []string
	packages map[string]*types.Package // complete or not
	err      error
}

func newExternals(s *session) (*externals, error) {
	store, err := openCache(s)
	if err != nil {
		return nil, err
	}
	x := &externals{
		session: s, cache: store, queue: make(chan string, 64), finished: make(chan struct{}),
		packages: make(map[string]*types.Package),
	}
	go func() {
		defer close(x.finished)
		for importPath := range x.queue {
			x.wanted = append(x.wanted, importPath)
			data, ok := store.get(importPath)
			if !ok {
				x.missing = append(x.missing, importPath)
				continue
			}
			x.read(importPath, data)
		}
	}()
	return x, nil
}

// want asks for a package.
func (x *externals) want(importPath string) { x.queue <- importPath }

// finish waits for the packages that were asked for, and makes the export data that the cache lacks.
func (x *externals) finish() error {
	close(x.queue)
	<-x.finished
	if x.err != nil || len(x.missing) == 0 || x.session.err != nil {
		return x.err
	}
	made, err := x.session.fromSource(x.missing)
	if err != nil {
		return err
	}
	if err := x.cache.unchanged(x.session); err != nil {
		return err
	}
	for _, importPath := range x.missing {
		x.cache.put(importPath, made[importPath])
		x.read(importPath, made[importPath])
	}
	return x.err
}

// complete reads the rest of a package of which only the names that others mention are known.
func (x *externals) complete(pkg *types.Package) error {
	if x.packages[pkg.Path()] != pkg {
		return nil // from source
	}
	data, ok := x.cache.get(pkg.Path())
	if !ok {
		made, err := x.session.fromSource([]string{pkg.Path()})
		if err != nil {
			return err
		}
		data = made[pkg.Path()]
		x.cache.put(pkg.Path(), data)
	}
	x.read(pkg.Path(), data)
	return x.err
}

func (x *externals) read(importPath string, data []byte) {
	if x.err != nil {
		return
	}
	if _, err := gcexportdata.Read(bytes.NewReader(data), x.session.program.Fset, x.packages, importPath); err != nil {
		x.err = unusual("reading export data: %v", err)
	}
}

// Export data has lines but no columns, and scan needs the exact byte. So export data is written with every byte as a
// line of its own. A file with more bytes than export data can count lines is cut into pieces: "name.go#0",
// "name.go#1", ….
const pieceSize = 60_000

// pieceName is what piece i of a file is called in export data.
func pieceName(filename string, i int) string { return fmt.Sprintf("%s#%d", filename, i) }

// exportedFile reads a pieceName: the file and the offset at which the piece begins.
func exportedFile(name string) (filename string, base int, ok bool) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || !strings.HasSuffix(name[:at], ".go") {
		return "", 0, false
	}
	i, err := strconv.Atoi(name[at+1:])
	if err != nil || i < 0 {
		return "", 0, false
	}
	return name[:at], i * pieceSize, true
}
