package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ErrMissing is wrapped by errors about programs that are not installed, except where AQL_REQUIRE_SERVERS is 1: who
// gets it goes without the browser.
var ErrMissing = errors.New("not installed")

// Find returns the path of the first of some programs that is installed. The first is of a package of Debian.
func Find(debian string, programs ...string) (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	if os.Getenv("AQL_REQUIRE_SERVERS") == "1" {
		return "", fmt.Errorf("there is no %s, which AQL_REQUIRE_SERVERS=1 demands: install the package %s",
			programs[0], debian)
	}
	return "", fmt.Errorf("%s is %w: install the package %s", programs[0], ErrMissing, debian)
}
