package audit

import (
	"context"
	"fmt"
	"io"
	"os"
)

// ReadFile is VerifyFile that calls visit, which begin returns, with each line that verifies, in their order and
// without its line break. A line is good until visit returns, whose error ends the reading. Where a file is removed
// before it is read, as a rotation does, the reading begins anew: begin is called once more, and what visit was called
// with before does not count.
//
// Lines behind a break of the chain are not read: nobody knows who has written them.
func ReadFile(
	ctx context.Context, path string, opts VerifyOptions, begin func() (visit func(line []byte) error),
) (Summary, error) {
	return readChain(ctx, path, opts, func() {}, begin, (*verifier).readAll)
}

// CopyFile writes what is in a file, and before it what is in the files that were closed before, as they are when it is
// called. It verifies nothing.
func CopyFile(ctx context.Context, w io.Writer, path string) error {
	current, size, closed, err := snapshot(ctx, followed(path))
	if err != nil {
		return err
	}
	defer current.Close()
	for _, file := range closed {
		if err := copyClosed(w, file.path); err != nil {
			return err
		}
	}
	if _, err := io.CopyN(w, current, size); err != nil {
		return fmt.Errorf("copying the audit file: %w", err)
	}
	return nil
}

func copyClosed(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the audit file: %w", err)
	}
	defer f.Close()
	if _, err := io.Copy(w, f); err != nil {
		return fmt.Errorf("copying the audit file %s: %w", path, err)
	}
	return nil
}
