package front

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// handling begins the SDK's text of an error in the params of a request.
var handling = regexp.MustCompile(`^handling '([a-zA-Z/]+)': `)

// Plain returns an error of the SDK as clients may see it. Where the params of a request have another form than they
// should, the SDK's text repeats them, and names Go types. Errors for which the SDK has no code get one of JSON-RPC.
func Plain(err error) error {
	text := err.Error()
	method := handling.FindStringSubmatch(text)
	var reported *jsonrpc.Error
	switch {
	case strings.HasSuffix(text, " is invalid during session initialization"):
		return invalidRequest("the session has not begun; send 'initialize' first")
	case text == `duplicate "initialize" received`:
		return invalidRequest("the session has begun already; 'initialize' is its first request, and only that")
	case method != nil && strings.HasSuffix(text, `missing required "params"`):
		return err
	case method != nil:
		return invalidParams(fmt.Sprintf("params of '%s' are not valid", method[1]))
	case strings.HasPrefix(text, "json: "), strings.Contains(text, ": unmarshaling \""):
		return invalidParams("the params are not valid")
	case !errors.As(err, &reported):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
	case reported.Code == 0:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text, Data: reported.Data}
	}
	return err
}

func invalidRequest(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}
