package front

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readAhead is how many bytes are read from the input at once.
const readAhead = 64 << 10

// lines reads the lines of a stream.
type lines struct {
	ahead   *ahead
	in      *bufio.Reader
	longest int
}

func newLines(in io.Reader, longest int) *lines {
	source := newAhead(in)
	return &lines{ahead: source, in: bufio.NewReaderSize(source, readAhead), longest: longest}
}

// next appends the next line that is not blank to buf, without the end of the line. tooLong reports that it has more
// bytes than a line may have; what was appended is then of no use. On streams, bytes are taken in here alone.
func (l *lines) next(buf []byte) (line []byte, tooLong bool, err error) {
	for {
		line, tooLong, err = l.read(buf)
		if err != nil || tooLong || len(bytes.Trim(line, " \t\r\n")) > 0 {
			return line, tooLong, err
		}
	}
}

func (l *lines) read(buf []byte) (line []byte, tooLong bool, err error) {
	line = buf
	for {
		part, err := l.in.ReadSlice('\n')
		if tooLong || len(line)+len(part) > l.longest {
			tooLong, line = true, buf
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (len(line) > 0 || tooLong): // the last line has no end
			return line, tooLong, nil
		default:
			return line, tooLong, err
		}
	}
}
