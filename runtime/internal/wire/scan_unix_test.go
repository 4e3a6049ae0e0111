//go:build unix

package wire

import (
	"syscall"
	"testing"
	"unsafe"
)

// No scan reads beyond the text: the memory after it may not exist.
func TestScanStopsAtTheEndOfMemory(t *testing.T) {
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	for _, outside := range []int{0, 2 * page} {
		if err := syscall.Mprotect(memory[outside:outside+page], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := memory[page : 2*page]
	for i := range inside {
		inside[i] = 'a'
	}
	for length := range 100 {
		for _, data := range [][]byte{inside[:length], inside[page-length:]} {
			text := unsafe.String(unsafe.SliceData(data), length)
			for from := 0; from <= length; from++ {
				checkScans(t, text, from)
				if from < length {
					data[from] = '"'
					checkScans(t, text, 0)
					data[from] = 'a'
				}
			}
		}
	}
}
