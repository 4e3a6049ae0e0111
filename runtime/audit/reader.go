package audit

import (
	"context"
	"fmt"
	"os"
	"time"
)

// rememberedFor is how long a Reader takes a closed file for verified. Who has changed one without a trace in its size
// and time is found out then.
const rememberedFor = 10 * time.Minute

// Reader reads a file as ReadFile does, again and again. It verifies files that were closed once in a while, and not
// each time: nobody writes to them any more. One that has another size or another time than when it was verified is
// verified again, and so are all after ten minutes. A Reader is not for several goroutines at a time.
type Reader struct {
	// Path is that of the file, and not of a closed one.
	Path string
	// Key is that of the chain; empty: it has none.
	Key []byte

	closed   []readOnce
	verified time.Time // the first of them
	after    verifier  // behind them
}

// readOnce is a closed file that was verified.
type readOnce struct {
	file    rotatedFile
	info    os.FileInfo
	records uint64 // up to its end
}

// same reports whether the file is as it was.
func (o *readOnce) same(file rotatedFile) bool {
	info, err := os.Stat(file.path)
	return err == nil && file == o.file && os.SameFile(info, o.info) && info.Size() == o.info.Size() &&
		info.ModTime().Equal(o.info.ModTime())
}

// Read is ReadFile for who looks at the last lines, of last of them at least: files that have none of these may be left
// out. Zero: at all.
func (r *Reader) Read(
	ctx context.Context, last uint64, begin func() (visit func(line []byte) error),
) (Summary, error) {
	if time.Since(r.verified) >= rememberedFor {
		r.closed = nil
	}
	return readChain(ctx, r.Path, VerifyOptions{Key: r.Key}, func() {}, begin, func(v *verifier, all []rotatedFile) error {
		return r.readClosed(ctx, v, all, last)
	})
}

// readClosed reads the closed files of a chain for a verifier.
func (r *Reader) readClosed(ctx context.Context, v *verifier, all []rotatedFile, last uint64) error {
	known := r.known(all)
	if known > 0 {
		v.resume(&r.after)
	}
	for i := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i >= known {
			if err := r.verify(v, all[i], len(r.closed) == i); err != nil {
				r.closed = nil
				return err
			}
			continue
		}
		if behind := v.end.seq - r.closed[i].records; last > 0 && behind >= last {
			continue
		}
		if err := v.pass(all[i]); err != nil {
			return err
		}
	}
	return nil
}

// known returns how many of the files need not be verified, and forgets all if the files have become others.
func (r *Reader) known(all []rotatedFile) int {
	for i := range r.closed {
		if i >= len(all) || !r.closed[i].same(all[i]) {
			r.closed = nil
			break
		}
	}
	return len(r.closed)
}

// verify verifies a closed file. It remembers that, where it knows all files before it.
func (r *Reader) verify(v *verifier, file rotatedFile, remember bool) error {
	began := time.Now()
	info, err := os.Stat(file.path)
	if err != nil {
		return fmt.Errorf("looking at the audit file: %w", err)
	}
	if err := v.readFile(file); err != nil {
		return err
	}
	once := readOnce{file, info, v.end.seq}
	if !remember || !once.same(file) { // somebody has changed it meanwhile
		return nil
	}
	if len(r.closed) == 0 {
		r.verified = began
	}
	r.closed, r.after = append(r.closed, once), *v
	r.after.lines, r.after.long, r.after.visit = nil, nil, nil
	return nil
}

// resume goes on behind what another verifier of the same chain has read.
func (v *verifier) resume(after *verifier) {
	chain, lines, long, visit := v.chain, v.lines, v.long, v.visit
	*v = *after
	v.chain, v.lines, v.long, v.visit = chain, lines, long, visit
}

// pass visits the lines of a closed file that was verified before.
func (v *verifier) pass(file rotatedFile) error {
	if v.visit == nil {
		return nil
	}
	f, err := os.Open(file.path)
	if err != nil {
		return fmt.Errorf("opening the audit file: %w", err)
	}
	defer f.Close()
	v.file, v.number = file.path, 0
	v.lines.Reset(f)
	for {
		text, err := v.next()
		if err != nil || text == nil {
			return err
		}
		if err := v.visit(text); err != nil {
			return err
		}
	}
}
