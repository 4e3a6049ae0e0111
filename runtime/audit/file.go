package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// FileOptions are the options of a File.
type FileOptions struct {
	// Key is the key of an HMAC-SHA256, of 32 bytes or more: without it a chain that verifies cannot be written. Empty:
	// the chain uses SHA-256. ReadKey reads a key from a file. Every process that appends to the file or verifies it needs
	// the same key.
	Key []byte
	// MaxSize is the size in bytes from which on a file gets no more records: it is closed, and a new one begins. Zero:
	// files are not rotated. It has no effect on systems without flock, such as Windows.
	MaxSize int64
	// Keep is how many closed files are kept; older ones are removed. Zero: all are kept. Who can fill files can make
	// evidence vanish where Keep is set.
	Keep int
	// Logger receives a warning when the unfinished line of a killed process was cut off, and when a file could not be
	// rotated; nil: it is discarded.
	Logger *slog.Logger
}

// File is a sink that appends records to a file of mode 0600: one JSON object a line, with the hash of the line before.
// Several processes may append to one file. Each locks the file (flock; on systems without it, only one process at a
// time can open the file), reads what the others have appended, appends its records in one write, and syncs the file.
// The file must therefore be on a local file system.
//
// If a write fails, the file is cut back to what it was. If that fails, too, the File refuses all further records. The
// next writer cuts off the unfinished last line of a process that was killed while it wrote; Write had not returned for
// it. Every other fault at the end of the file is an error and is left as it is; Verify finds faults before the end.
//
// With FileOptions.MaxSize a file that is full is renamed: audit.log becomes audit.log.000001, the next one
// audit.log.000002. Its last record is FileClosed. The new audit.log begins with FileOpened, which continues the chain:
// it has the hash of the record before and the number that follows. A process that is killed meanwhile loses nothing;
// the next writer goes on where it was. Where a file cannot be renamed, it grows on, and Logger receives an error.
//
// Records are refused while a file that is open was moved by somebody else.
type File struct {
	path    string
	logger  *slog.Logger
	release func()
	maxSize int64
	keep    uint64
	step    func(name string) // called between the steps of a rotation, in tests; nil: it is not

	mu      sync.Mutex
	file    *os.File
	out     output // file, or its replacement in tests
	chain   *chain
	end     link  // of the file up to size
	size    int64 // up to the last line that was read or written
	closed  bool  // end is FileClosed
	place   place // of the file among the rotated ones
	buf     []byte
	refused error // why Write fails from now on
	growing bool  // Logger knows that the file cannot be rotated
}

// output is what a File does to its file.
type output interface {
	io.ReaderAt
	io.Writer
	Truncate(size int64) error
	Sync() error
}

// ErrClosed is the error of writing to a File or Log that is closed.
var ErrClosed = errors.New("the audit log is closed")

// OpenFile opens a file for appending, and creates it if it does not exist. It fails if the file does not end with a
// record of a chain with this key.
func OpenFile(ctx context.Context, path string, opts FileOptions) (*File, error) {
	f, err := openFile(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("opening the audit file %s: %w", path, err)
	}
	return f, nil
}

func openFile(ctx context.Context, path string, opts FileOptions) (*File, error) {
	if err := checkKey(opts.Key); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path) // the process may change its directory
	if err != nil {
		return nil, err
	}
	if _, number := closedFile(path); number > 0 {
		return nil, errors.New("this is the name of an audit file that was closed; choose another")
	}
	release, err := claim(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|appending, 0o600)
	if err != nil {
		release()
		return nil, err
	}
	f := &File{
		path: followed(path), logger: opts.Logger, release: release, maxSize: opts.MaxSize, keep: uint64(max(opts.Keep, 0)),
		chain: newChain(opts.Key),
	}
	f.use(file)
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	if err := f.begin(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// followed returns the path behind a symbolic link: the file is renamed, and not the link.
func followed(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
	}
	return path
}

// use makes file the one that f writes to. What is known of the file before stays, so that it must go on from there.
func (f *File) use(file *os.File) {
	f.file, f.out = file, file
	f.size, f.closed, f.place = 0, false, place{}
}

// begin reads where the file ends.
func (f *File) begin(ctx context.Context) error {
	if info, err := f.file.Stat(); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if err := syncFolder(filepath.Dir(f.path)); err != nil {
		return err
	}
	if err := f.acquire(ctx); err != nil {
		return err
	}
	defer unlock(f.file)
	if f.end.seq > 0 {
		return nil
	}
	others, err := rotated(f.path)
	if err != nil || len(others) == 0 {
		return err
	}
	return fmt.Errorf("it was removed or emptied, and %s is there: verify the files, and put it back, "+
		"or move the others away to begin a new chain", others[len(others)-1].path)
}

// acquire locks the file and reads what others have appended. Where another process has rotated the file, it goes on
// with the new one.
func (f *File) acquire(ctx context.Context) error {
	for {
		if err := lock(ctx, f.file, exclusive); err != nil {
			return err
		}
		inPlace, err := f.catchUp()
		if err == nil && inPlace {
			return nil
		}
		unlock(f.file)
		if err != nil {
			return err
		}
		next, err := os.OpenFile(f.path, os.O_RDWR|appending, 0)
		if err != nil {
			return err
		}
		f.file.Close()
		f.use(next)
	}
}

// String returns the name of the sink in logs.
func (f *File) String() string { return "file " + f.path }

// Write implements Sink. It returns when the records are on the disk. If it fails, none of them is in the file.
func (f *File) Write(ctx context.Context, records []Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused != nil {
		return f.refused
	}
	if len(records) == 0 {
		return nil
	}
	if err := f.write(ctx, records); err != nil {
		return fmt.Errorf("writing the audit file %s: %w", f.path, err)
	}
	return nil
}

func (f *File) write(ctx context.Context, records []Record) error {
	if err := f.acquire(ctx); err != nil {
		return err
	}
	defer func() { unlock(f.file) }()
	if err := f.makeRoom(records[0].Time); err != nil {
		return err
	}
	if cap(f.buf) > 1<<20 {
		f.buf = nil
	}
	f.buf = f.buf[:0]
	end := f.end
	for i := range records {
		before := len(f.buf)
		f.buf = f.chain.append(f.buf, &records[i], &end)
		if len(f.buf)-before > maxLine {
			return fmt.Errorf("a record has more than %d MiB", maxLine>>20)
		}
	}
	return f.append(f.buf, end)
}

// append appends lines that end in a record. If it fails, the file is as it was.
func (f *File) append(lines []byte, end link) error {
	_, err := f.file.Seek(f.size, io.SeekStart)
	if err == nil {
		_, err = f.out.Write(lines)
	}
	if err == nil {
		err = f.out.Sync()
	}
	if err != nil {
		if failed := f.out.Truncate(f.size); failed != nil {
			f.refused = fmt.Errorf("the audit file %s may end with a record that was reported as not written: "+
				"cutting it off failed (%w) after writing failed: %w", f.path, failed, err)
			return f.refused
		}
		return err
	}
	f.end, f.size = end, f.size+int64(len(lines))
	return nil
}

// errMoved is the error of a file that is not where it was.
var errMoved = errors.New(
	"the file was moved or removed while it was in use; put it back, or restart to begin a new one")

// catchUp reads the end of the file if another process has appended to it, and cuts off an unfinished line. inPlace is
// false if another process has rotated the file. The lock is held.
func (f *File) catchUp() (inPlace bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(f.path)
	if err != nil {
		return false, errMoved
	}
	inPlace = os.SameFile(info, there)
	if size := info.Size(); size != f.size {
		err = f.readEnd(size, inPlace)
	}
	switch {
	case !inPlace && (err != nil || !f.closed):
		return false, errMoved
	case err == nil && f.size == 0 && f.end.seq > 0:
		err = fmt.Errorf("the file is empty, and record %d was there already", f.end.seq)
	}
	return inPlace, err
}

// readEnd reads the last record in the first size bytes of the file. If the file is in its place, it cuts off what is
// behind the record.
func (f *File) readEnd(size int64, inPlace bool) error {
	if size < f.size {
		return fmt.Errorf("the file was cut off: it has %d bytes, and had %d; verify it", size, f.size)
	}
	last, ends, err := f.last(size)
	if err != nil {
		return err
	}
	if ends > f.size && last.seq <= f.end.seq {
		return fmt.Errorf("the file was changed: its last record is %d, and record %d was there already; verify it",
			last.seq, f.end.seq)
	}
	if f.size == 0 && ends > 0 {
		if f.place, err = f.readPlace(); err != nil {
			return err
		}
	}
	if ends < size && inPlace {
		if err := f.out.Truncate(ends); err != nil {
			return fmt.Errorf("cutting off an unfinished line: %w", err)
		}
		f.logger.Warn("cut off the audit file's last line, which a process that was killed has not finished",
			"file", f.path, "bytes", size-ends)
	}
	if ends > f.size {
		f.end, f.size = link{seq: last.seq, hash: last.hash}, ends
		f.closed = last.event() == FileClosed
	}
	return nil
}

// last returns the last complete record in the first size bytes of the file, if one is behind those that are known, and
// the offset of its end.
func (f *File) last(size int64) (l line, ends int64, err error) {
	// The last line and an unfinished one after it, with the line break before them.
	var tail []byte
	var from int64
	stop, start := -1, -1
	for window := int64(64 << 10); ; window *= 8 {
		from = max(f.size, size-min(window, 2*maxLine+1))
		tail = make([]byte, size-from)
		if _, err := f.out.ReadAt(tail, from); err != nil {
			return line{}, 0, fmt.Errorf("reading its end: %w", err)
		}
		if stop = bytes.LastIndexByte(tail, '\n'); stop >= 0 {
			start = bytes.LastIndexByte(tail[:stop], '\n')
		}
		if start >= 0 || from == f.size || window > 2*maxLine {
			break
		}
	}
	if len(tail)-stop > maxLine {
		return line{}, 0, fmt.Errorf("its last line is longer than %d MiB; verify it", maxLine>>20)
	}
	if stop < 0 {
		// Only what looks like a record is cut off: no line before it shows that the file is a chain.
		if f.size == 0 && !beginsLine(tail) {
			return line{}, 0, errors.New("it is not an audit file")
		}
		return line{}, f.size, nil
	}
	l, err = parseLine(tail[start+1 : stop])
	if err != nil {
		return line{}, 0, fmt.Errorf("its last record is damaged, or it is no audit file: %w; verify it", err)
	}
	if err := f.check(&l); err != nil {
		return line{}, 0, fmt.Errorf("its last record: %w", err)
	}
	return l, from + int64(stop) + 1, nil
}

// check checks the hash of a line.
func (f *File) check(l *line) error {
	switch {
	case l.keyed && !f.chain.keyed:
		return errors.New("it was written with a key; give the same key, or begin a new file")
	case !l.keyed && f.chain.keyed:
		return errors.New("it was written without a key; begin a new file for a chain with one")
	case f.chain.digest(&l.prev, l.body) == l.hash:
		return nil
	case f.chain.keyed:
		return errors.New("its hash is wrong: the record was changed, or written with another key; verify it")
	default:
		return errors.New("its hash is wrong: the record was changed; verify it")
	}
}

// Close implements Sink.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	f.refused = ErrClosed
	f.release()
	return err
}
