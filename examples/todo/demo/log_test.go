package main

import (
	"strings"
	"testing"
)

// However the log comes in pieces, the first address of the console is taken from it, and warnings are passed on.
func TestConsoleLog(t *testing.T) {
	const text = "time=1 level=INFO msg=\"serving MCP\" url=http://127.0.0.1:1/\n" +
		"time=2 level=WARN msg=\"a token of the console\" url=http://127.0.0.1:2/\n" +
		"time=3 level=INFO msg=\"another process serves the console\" url=http://127.0.0.1:3/ process=7\n" +
		"time=4 level=INFO msg=\"serving the console\" url=http://127.0.0.1:4/\n" +
		"time=5 level=ERROR msg=broken\n"
	for size := 1; size <= len(text); size++ {
		var rest strings.Builder
		log := &consoleLog{rest: &rest, url: make(chan string, 1)}
		for from := 0; from < len(text); from += size {
			if _, err := log.Write([]byte(text[from:min(from+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		close(log.url)
		if url := <-log.url; url != "http://127.0.0.1:3/" {
			t.Fatalf("in pieces of %d bytes, the console is at %q", size, url)
		}
		want := strings.SplitAfter(text, "\n")
		if rest.String() != want[1]+want[4] {
			t.Fatalf("in pieces of %d bytes, what is passed on is %q", size, &rest)
		}
	}
}
