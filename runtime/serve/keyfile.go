package serve

import (
	"fmt"

	"github.com/aqltag/aqltag/runtime/audit"
)

// readKey reads the key file that a flag names; nil if path is empty.
func readKey(flag, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := audit.ReadKey(path)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", flag, err)
	}
	return key, nil
}
