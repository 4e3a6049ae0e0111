package operator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
)

// longestTyped bounds what is read from the terminal, in bytes.
const longestTyped = 4 << 10

// openTerminal opens the terminal that controls the process, whatever its standard input is.
func openTerminal() (io.ReadWriteCloser, error) {
	if runtime.GOOS == "windows" {
		in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		return console{in, out}, nil
	}
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}

// console is the terminal of Windows, whose two directions are two files.
type console struct{ in, out *os.File }

func (c console) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c console) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }

// dialog is a terminal on which a person is asked.
type dialog struct {
	io.ReadWriteCloser
	lines *bufio.Reader
}

// dialog opens the terminal. What is done there is in the error.
func (d *Desk) dialog(what string) (*dialog, error) {
	terminal, err := d.Terminal()
	if err != nil {
		return nil, fmt.Errorf("%s at a terminal, and this program has none: %w", what, err)
	}
	return &dialog{terminal, bufio.NewReader(io.LimitReader(terminal, longestTyped))}, nil
}

// say writes to the terminal.
func (t *dialog) say(text string) error {
	if _, err := io.WriteString(t, text); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	return nil
}

// ask asks for a line.
func (t *dialog) ask(prompt string) (string, error) {
	if err := t.say(prompt); err != nil {
		return "", err
	}
	line, err := t.lines.ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || line == "") {
		return "", fmt.Errorf("reading from the terminal: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// askUnseen asks for a line that the terminal does not show. If ctx ends, the terminal shows again what is typed.
func (t *dialog) askUnseen(ctx context.Context, prompt string) (string, error) {
	show := func() error { return nil }
	if file, ok := t.ReadWriteCloser.(*os.File); ok {
		var err error
		if show, err = hideTyping(file); err != nil {
			return "", fmt.Errorf("the terminal would show what is typed: %w", err)
		}
	}
	var once sync.Once
	restore := func() {
		once.Do(func() {
			_ = show() // nothing else can be done
			_ = t.say("\n")
		})
	}
	defer restore()
	defer context.AfterFunc(ctx, restore)()
	return t.ask(prompt)
}
