package mcpserver

import (
	"reflect"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// receiver identifies the function that receives the requests of an MCP server, which is another one when middleware
// was added; 0: the SDK has another form than it had, so that this cannot be said.
func receiver(server *mcp.Server) uintptr {
	field := reflect.ValueOf(server).Elem().FieldByName("receivingMethodHandler_")
	if field.Kind() != reflect.Func {
		return 0
	}
	return field.Pointer()
}

// replied is the key of a reply in the SDK's token information: the call was made, and the client is to ask a person.
const replied = "reply"

// withReply returns what a call of the SDK is to have, so that s.call goes on where answer ended.
func withReply(extra *mcp.RequestExtra, reply *aql.Reply) *mcp.RequestExtra {
	info := auth.TokenInfo{}
	if extra.TokenInfo != nil {
		info = *extra.TokenInfo
	}
	info.Extra = map[string]any{callerInfo: info.Extra[callerInfo], replied: reply}
	with := *extra
	with.TokenInfo = &info
	return &with
}

// takeReply returns the reply of a call that was made already, once; nil: the call was not made.
func takeReply(extra *mcp.RequestExtra) *aql.Reply {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	reply, _ := extra.TokenInfo.Extra[replied].(*aql.Reply)
	if reply != nil {
		delete(extra.TokenInfo.Extra, replied)
	}
	return reply
}
