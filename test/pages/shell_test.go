package pages

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// A shell runs the commands of a page in one process, so that a later block sees the functions of an earlier one.
type shell struct {
	dir string
	in  io.Writer
	out *bufio.Reader
}

// prelude defines commands that a reader has, and the test machine lacks.
const prelude = `set -e
exec 2>&1
claude() { # claude mcp add NAME -- COMMAND [ARGS]: fails unless the command answers as an MCP server
	[ "$1 $2 $4" = "mcp add --" ] || { echo "unknown form: claude $*"; return 1; }
	name=$3; shift 4
	params='{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"page","version":"1"}}'
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":'"$params"'}' | "$@" 2>&1 |
		grep -q '"serverInfo":{"name":"'"$name"'"' || { echo "$* is not an MCP server named $name"; return 1; }
}
`

// newShell starts a shell in a folder.
func newShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh")
	command.Dir, command.Env = dir, env
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = command.Wait()
	})
	s := &shell{dir, in, bufio.NewReader(out)}
	if _, err := s.run(prelude); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs commands and returns what they print. It fails at the first command that fails; the shell has ended then.
func (s *shell) run(commands string) (string, error) {
	const end = "-- end of the block --\n"
	if _, err := io.WriteString(s.in, commands+"\nprintf '%s\\n' '"+strings.TrimSpace(end)+"'\n"); err != nil {
		return "", err
	}
	var printed strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if text, ok := strings.CutSuffix(line, end); ok {
			return printed.String() + text, nil
		}
		printed.WriteString(line)
		if err != nil {
			return printed.String(), fmt.Errorf("a command failed:\n%s", &printed)
		}
	}
}
