package wire

import (
	"errors"
	"reflect"

	"github.com/bytedance/sonic"
)

// errNoSonic is returned where sonic is encoding/json under another name.
var errNoSonic = errors.New("sonic has no code for this platform or Go version and falls back to encoding/json")

// pretouch compiles sonic's code for T beforehand, and fails where sonic would measure encoding/json.
func pretouch[T any]() error {
	if sonic.APIKind != sonic.UseSonicJSON {
		return errNoSonic
	}
	return sonic.Pretouch(reflect.TypeFor[T]())
}
