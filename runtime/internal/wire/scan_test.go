package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// plainEndByByte says what plainEnd is to return.
func plainEndByByte(data string, i int) int {
	for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' {
		i++
	}
	return i
}

// scans are plainEnd as this processor runs it, and in Go (D4).
var scans = map[string]func(data string, i int) int{"plainEnd": plainEnd, "plainEndPortable": plainEndPortable}

func checkScans(t *testing.T, data string, from int) {
	t.Helper()
	want := plainEndByByte(data, from)
	for name, scan := range scans {
		if got := scan(data, from); got != want {
			t.Fatalf("%s(%q, %d) is %d, want %d", name, data, from, got, want)
		}
	}
}

// Every byte is told apart in every place: a scan looks at many bytes at a time.
func TestScanFindsEveryByteInEveryPlace(t *testing.T) {
	const length = 70
	for place := range length {
		for c := range 256 {
			data := []byte(strings.Repeat("a", length))
			data[place] = byte(c)
			checkScans(t, string(data), 0)
		}
	}
}

func TestScanAtEveryAlignmentAndLength(t *testing.T) {
	text := strings.Repeat("Plain ~\x7f\x80\xff ", 60)
	for from := range 33 {
		for length := range 200 {
			data := []byte(text[:from+length])
			checkScans(t, string(data), from)
			for _, special := range []byte("\"\\\n\x00\x1f") {
				for _, place := range []int{from - 1, from, from + length/2, from + length - 1} {
					if place < 0 || place >= len(data) {
						continue
					}
					before := data[place]
					data[place] = special
					checkScans(t, string(data), from)
					data[place] = before
				}
			}
		}
	}
}

// A scan of long strings continues after what ends the ones before.
func TestScanOfLongStrings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		data := []byte(strings.Repeat("x", random.IntN(3000)))
		for range random.IntN(20) {
			if len(data) > 0 {
				data[random.IntN(len(data))] = "\"\\\t\x00é"[random.IntN(6)]
			}
		}
		for from := 0; from <= len(data); from = plainEndByByte(string(data), from) + 1 {
			checkScans(t, string(data), from)
		}
	}
}
