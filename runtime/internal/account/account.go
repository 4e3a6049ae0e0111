// Package account finds the account of who runs this process, as the operating system knows it. What the process has in
// its environment does not count: whoever starts it chooses that.
package account

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// passwd lists the accounts of a system.
const passwd = "/etc/passwd"

// Current returns the account of the process's owner. It fails if the operating system knows none.
func Current() (*user.User, error) {
	if !guesses {
		return user.Current()
	}
	file, err := os.Open(passwd)
	if err != nil {
		return nil, fmt.Errorf("looking up who runs this process: %w", err)
	}
	defer file.Close()
	return find(file, os.Getuid())
}

// find returns the account of a user in a file of the form passwd(5), which is the first one with its number.
func find(file io.Reader, uid int) (*user.User, error) {
	id := strconv.Itoa(uid)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ":")
		// Those that begin with + or - name no account here, but some of another source.
		if len(fields) == 7 && fields[0] != "" && !strings.ContainsAny(fields[0][:1], "#+-") && fields[2] == id {
			return &user.User{Uid: id, Gid: fields[3], Username: fields[0], HomeDir: fields[5]}, nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("looking up who runs this process: %w", err)
	}
	return nil, user.UnknownUserIdError(uid)
}
