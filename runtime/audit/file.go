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
	// Logger receives a warning when the unfinished line of a killed process was cut off; nil: it is discarded.
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
// A File grows without bound. To begin a new one, stop the processes that write to it, move the file, note its last
// hash (Summary.Head), and start them again. Records are refused while a file that is open was moved.
type File struct {
	path    string
	logger  *slog.Logger
	release func()

	mu      sync.Mutex
	file    *os.File
	out     output // file, or its replacement in tests
	chain   *chain
	end     link  // of the file up to size
	size    int64 // up to the last line that was read or written
	buf     []byte
	refused error // why Write fails from now on
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
	release, err := claim(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|appending, 0o600)
	if err != nil {
		release()
		return nil, err
	}
	f := &File{path: path, logger: opts.Logger, release: release, file: file, out: file, chain: newChain(opts.Key)}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	if err := f.begin(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
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
	if err := lock(ctx, f.file, exclusive); err != nil {
		return err
	}
	defer unlock(f.file)
	return f.catchUp()
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
	if err := lock(ctx, f.file, exclusive); err != nil {
		return err
	}
	defer unlock(f.file)
	if err := f.catchUp(); err != nil {
		return err
	}
	if cap(f.buf) > maxLine {
		f.buf = nil
	}
	f.buf = f.buf[:0]
	end := f.end
	for i := range records {
		f.buf = f.chain.append(f.buf, &records[i], &end)
	}
	_, err := f.file.Seek(f.size, io.SeekStart)
	if err == nil {
		_, err = f.out.Write(f.buf)
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
	f.end, f.size = end, f.size+int64(len(f.buf))
	return nil
}

// catchUp reads the end of the file if another process has appended to it, and cuts off an unfinished line. The lock is
// held.
func (f *File) catchUp() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(f.path); err != nil || !os.SameFile(info, there) {
		return errors.New("the file was moved or removed while it was in use; put it back, or restart to begin a new one")
	}
	size := info.Size()
	switch {
	case size == f.size:
		return nil
	case size < f.size:
		return fmt.Errorf("the file was cut off: it has %d bytes, and had %d; verify it", size, f.size)
	}
	end, ends, err := f.last(size)
	if err != nil {
		return err
	}
	if end.seq < f.end.seq || ends > f.size && end.seq == f.end.seq {
		return fmt.Errorf("the file was changed: its last record is %d, and record %d was there already; verify it",
			end.seq, f.end.seq)
	}
	if ends < size {
		if err := f.out.Truncate(ends); err != nil {
			return fmt.Errorf("cutting off an unfinished line: %w", err)
		}
		f.logger.Warn("cut off the audit file's last line, which a process that was killed has not finished",
			"file", f.path, "bytes", size-ends)
	}
	f.end, f.size = end, ends
	return nil
}

// last returns the last complete record in the first size bytes of the file, and the offset of its end.
func (f *File) last(size int64) (end link, ends int64, err error) {
	// The last line and an unfinished one after it, with the line break before them.
	from := max(f.size, size-2*maxLine-1)
	tail := make([]byte, size-from)
	if _, err := f.out.ReadAt(tail, from); err != nil {
		return link{}, 0, fmt.Errorf("reading its end: %w", err)
	}
	stop := bytes.LastIndexByte(tail, '\n')
	if len(tail)-stop > maxLine {
		return link{}, 0, errors.New("its last line is longer than 1 MiB; verify it")
	}
	if stop < 0 {
		// Only what looks like a record is cut off: no line before it shows that the file is a chain.
		if f.size == 0 && !beginsLine(tail) {
			return link{}, 0, errors.New("it is not an audit file")
		}
		return f.end, f.size, nil
	}
	text := tail[bytes.LastIndexByte(tail[:stop], '\n')+1 : stop]
	l, err := parseLine(text)
	if err != nil {
		return link{}, 0, fmt.Errorf("its last record is damaged, or it is no audit file: %w; verify it", err)
	}
	if f.chain.digest(&l.prev, l.body) != l.hash {
		return link{}, 0, errors.New("the hash of its last record is wrong: " +
			"the record was changed, or written with another key; verify it")
	}
	return link{seq: l.seq, hash: l.hash}, from + int64(stop) + 1, nil
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
