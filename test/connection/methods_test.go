package connection

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// role is what our server does with a method of MCP.
type role int

const (
	answers role = iota // a request of a client
	takes               // a notification of a client
	sends               // the server sends it to clients
)

// methods are those of MCP, in both eras. What is answered in one era only is answered with an error in the other.
var methods = map[string]role{
	"completion/complete": answers, "initialize": answers, "logging/setLevel": answers, "ping": answers,
	"prompts/get": answers, "prompts/list": answers, "resources/list": answers, "resources/read": answers,
	"resources/subscribe": answers, "resources/templates/list": answers, "resources/unsubscribe": answers,
	"server/discover": answers, "subscriptions/listen": answers, "tools/call": answers, "tools/list": answers,

	"notifications/cancelled": takes, "notifications/initialized": takes, "notifications/progress": takes,
	"notifications/roots/list_changed": takes,

	"elicitation/create": sends, "notifications/elicitation/complete": sends, "notifications/message": sends,
	"notifications/prompts/list_changed": sends, "notifications/resources/list_changed": sends,
	"notifications/resources/updated": sends, "notifications/subscriptions/acknowledged": sends,
	"notifications/tools/list_changed": sends, "roots/list": sends, "sampling/createMessage": sends,
}

// D8: a new version of the SDK, which knows more methods of MCP, fails here until somebody has looked at each of them:
// whether the SDK answers it, and whether our connection must not pass over it.
func TestMethodsAreKnown(t *testing.T) {
	declared := methodsOfSDK(t)
	for name, where := range declared {
		if _, known := methods[name]; !known {
			t.Errorf("%s: the SDK has the method %q, which is new here", where, name)
		}
	}
	for name := range methods {
		if declared[name] == "" {
			t.Errorf("the SDK has no method %q any more", name)
		}
	}
}

// methodsOfSDK returns the constants of the SDK that are methods of MCP, each with its place.
func methodsOfSDK(t *testing.T) map[string]string {
	t.Helper()
	// The folder of the SDK's source is where its functions say that they are.
	entry := runtime.FuncForPC(reflect.ValueOf(mcp.NewServer).Pointer())
	file, _ := entry.FileLine(entry.Entry())
	sources, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	if err != nil || len(sources) == 0 {
		t.Skipf("the source of the SDK is not here: %s, %v", file, err)
	}
	found := make(map[string]string)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Base(source), text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i >= len(spec.Values) ||
					!strings.HasPrefix(name.Name, "method") && !strings.HasPrefix(name.Name, "notification") {
					continue
				}
				if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					value, err := strconv.Unquote(literal.Value)
					if err == nil && !strings.HasPrefix(value, "Mcp-") {
						found[value] = filepath.Base(source)
					}
				}
			}
			return true
		})
	}
	return found
}

// Each request that MCP has is answered, over stdio and in one of the eras at least with something else than that there
// is no such method, or with the reason why there is none; and as a plain server answers it, which is compared above.
func TestMethodsAreAnswered(t *testing.T) {
	absent := map[string]string{
		"completion/complete":   "neither the adapter nor the service completes arguments",
		"logging/setLevel":      "the server does not log to clients",
		"resources/subscribe":   "no resource of the service can be followed",
		"resources/unsubscribe": "no resource of the service can be followed",
	}
	var unanswered []string
	for name, is := range methods {
		if is != answers {
			continue
		}
		var all []string
		for _, meta := range []string{
			"", `"_meta":` + sessionless + `,`,
		} {
			synctest.Test(t, func(t *testing.T) { all = append(all, answerTo(t, name, meta)) })
		}
		if slices.ContainsFunc(all, func(answer string) bool { return answer == "" }) {
			t.Errorf("%s: not answered: %q", name, all)
		}
		if !slices.ContainsFunc(all, func(answer string) bool { return !strings.Contains(answer, "-32601") }) {
			unanswered = append(unanswered, name)
		}
	}
	for _, name := range unanswered {
		if absent[name] == "" {
			t.Errorf("%s: there is no such method in either era", name)
		}
	}
	for name := range absent {
		if !slices.Contains(unanswered, name) {
			t.Errorf("%s is answered; it is no longer absent", name)
		}
	}
}

// answerTo returns the answer of our server to a request with a method. meta is empty in the era with sessions.
func answerTo(t *testing.T, method, meta string) string {
	t.Helper()
	server := newOurs(t, false)
	c := openStream(t.Context(), server)
	if meta == "" && method != "initialize" {
		c.in.write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
			`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"))
		settle()
		c.out.take()
	}
	c.in.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":%q,"params":{%s"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"},"name":"summary","uri":"things://all","level":"info",`+
		`"notifications":{}}}`+"\n", method, meta))
	settle()
	answer := c.out.take()
	c.in.Close()
	settle()
	server.close()
	settle()
	return answer
}
