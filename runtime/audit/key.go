package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// Bounds of a key, in bytes.
const (
	minKey = 32
	maxKey = 4 << 10
)

// checkKey refuses keys that could be guessed.
func checkKey(key []byte) error {
	if len(key) > 0 && len(key) < minKey {
		return fmt.Errorf("the key has %d bytes; give it at least %d random ones", len(key), minKey)
	}
	return nil
}

// ReadKey reads a key from a file, as the flags -audit-key and -state-key of an adapter do: the bytes of the file as
// they are, from 32 to 4096, without line breaks behind the first 32. Both "head -c 32 /dev/urandom" and "openssl rand
// -hex 32" write one. Where files have Unix permissions, ReadKey refuses a file that everybody can read, or that others
// than its owner can change.
func ReadKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	return key, nil
}

func readKey(path string) ([]byte, error) {
	// Opening a named pipe would block.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o026 != 0 {
		return nil, fmt.Errorf("its mode is %04o: everybody can read it, or others can change it; make that 0600", mode)
	}
	key, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return nil, err
	}
	if len(key) < minKey || len(key) > maxKey {
		return nil, fmt.Errorf("it does not have from %d to %d bytes; better 32 random ones", minKey, maxKey)
	}
	for len(key) > minKey && (key[len(key)-1] == '\n' || key[len(key)-1] == '\r') {
		key = key[:len(key)-1]
	}
	return key, nil
}
