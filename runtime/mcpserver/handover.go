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

// replied is the key of a reply in the SDK's token information: the call was made, and its client is to ask a person.
const replied = "reply"

// withReply returns what a call on a stream is to have in the SDK, so that Server.call goes on where direct ended.
func withReply(reply *aql.Reply) *mcp.RequestExtra {
	return &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{replied: reply}}}
}

// takeReply returns the reply of a call that was made already, once; nil: the call was not made.
func (s *Server) takeReply(extra *mcp.RequestExtra) *aql.Reply {
	switch {
	case extra == nil:
		return nil
	case len(extra.Header[replyHeader]) > 0:
		reply, _ := s.replies.LoadAndDelete(extra.Header[replyHeader][0])
		made, _ := reply.(*aql.Reply)
		return made
	case extra.Header != nil || extra.TokenInfo == nil:
		return nil
	}
	reply, _ := extra.TokenInfo.Extra[replied].(*aql.Reply)
	delete(extra.TokenInfo.Extra, replied)
	return reply
}
