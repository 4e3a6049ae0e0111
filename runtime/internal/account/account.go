// Package account finds accounts, and that of who runs this process, as the operating system knows them. What the
// process has in its environment does not count: whoever starts it chooses that.
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
	return find(strconv.Itoa(os.Getuid()), idField, user.UnknownUserIdError(os.Getuid()))
}

// Lookup returns the account with a name. It fails with a user.UnknownUserError if the operating system has none.
func Lookup(name string) (*user.User, error) {
	if !guesses { // otherwise user.Lookup, too, believes the environment about who runs this process
		return user.Lookup(name)
	}
	return find(name, nameField, user.UnknownUserError(name))
}

// Groups returns the names of the groups of an account. A group that has no name is left out.
func Groups(u *user.User) ([]string, error) {
	ids, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("looking up the groups of %s: %w", u.Username, err)
	}
	var names []string
	for _, id := range ids {
		if group, err := user.LookupGroupId(id); err == nil {
			names = append(names, group.Name)
		}
	}
	return names, nil
}

// The fields of an account in a file of the form passwd(5).
const nameField, idField = 0, 2

// find returns the first account of this system with a value in a field, and none as an error.
func find(value string, field int, none error) (*user.User, error) {
	file, err := os.Open(passwd)
	if err != nil {
		return nil, fmt.Errorf("looking up an account: %w", err)
	}
	defer file.Close()
	return findIn(file, value, field, none)
}

// findIn is find in a file of the form passwd(5).
func findIn(file io.Reader, value string, field int, none error) (*user.User, error) {
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(strings.TrimSpace(lines.Text()), ":")
		// Those that begin with + or - name no account here, but some of another source.
		if len(fields) == 7 && fields[0] != "" && !strings.ContainsAny(fields[0][:1], "#+-") && fields[field] == value {
			return &user.User{Uid: fields[2], Gid: fields[3], Username: fields[0], HomeDir: fields[5]}, nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("looking up an account: %w", err)
	}
	return nil, none
}
