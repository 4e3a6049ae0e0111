package wire

import (
	"errors"
	"reflect"

	"github.com/bytedance/sonic"
)

// errNoSonic is the error where sonic only calls encoding/json.
var errNoSonic = errors.New("sonic has no code for this platform or Go version and falls back to encoding/json")

// pretouch compiles sonic's code for T. It fails where sonic only calls encoding/json.
func pretouch[T any]() error {
	if sonic.APIKind != sonic.UseSonicJSON {
		return errNoSonic
	}
	return sonic.Pretouch(reflect.TypeFor[T]())
}
