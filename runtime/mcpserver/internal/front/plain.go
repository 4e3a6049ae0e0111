package front

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// handling begins the SDK's text of an error in the params of a request.
var handling = regexp.MustCompile(`^handling '([a-zA-Z/]+)': `)

// Plain returns an error of the SDK as clients may see it. Where the params of a request have another form than they
// should, the SDK's text repeats them, and names Go types.
func Plain(err error) error {
	text := err.Error()
	method := handling.FindStringSubmatch(text)
	switch {
	case method != nil && strings.HasSuffix(text, `missing required "params"`):
		return err
	case method != nil:
		return invalidParams(fmt.Sprintf("params of '%s' are not valid", method[1]))
	case strings.HasPrefix(text, "json: "), strings.Contains(text, ": unmarshaling \""):
		return invalidParams("the params are not valid")
	}
	return err
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}
