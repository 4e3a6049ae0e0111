//go:build unix

package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The page for operators: the adapter of the tutorial on a laptop, on one server and, where PostgreSQL is installed, in
// a fleet.
func TestOperators(t *testing.T) {
	const page, token, location = "docs/operators.md", "secret-of-ann", "postgres://notes@db/notes?sslmode=verify-full"
	sum := sha256.Sum256([]byte(token))
	t.Setenv("NOTES_TOKEN_SHA256", hex.EncodeToString(sum[:]))
	r := newModule(t)
	r.follow("docs/tutorial.md", only(read(t, "docs/tutorial.md"), "go"))
	if _, err := r.shell.run("go mod init example.com/notes\n" +
		"go get -tool github.com/aqltag/aqltag/cmd/aql-tag\n" +
		"go get github.com/aqltag/aqltag/runtime/serve\ngo generate ./..."); err != nil {
		t.Fatal(err)
	}
	blocks := only(read(t, page), "go", "sh", "yaml", "sh background")
	about := func(text string) int {
		i := slices.IndexFunc(blocks, func(block Block) bool { return strings.Contains(block.Text, text) })
		if i < 0 {
			t.Fatalf("%s has no block with %s", page, text)
		}
		return i
	}
	laptop, fleet, records := about("aql-tag connect"), about(location), about("audit verify")

	r.follow(page, blocks[:laptop+1])
	_, configuration, _ := strings.Cut(r.printed, "{") // the log of the adapter that is asked for its name is before it
	configuration = "{" + configuration[:strings.LastIndex(configuration, "}")+1]
	r.configure(page, Block{Line: blocks[laptop].Line, Text: configuration})
	tools, err := r.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == "mcp_aql_delete" {
			t.Error("-no-destructive leaves the tool for deleting")
		}
	}

	r.follow(page, blocks[laptop+1:fleet])
	r.signIn(token)
	r.refuses("delete_note", "PERMISSION_DENIED") // nobody can be asked

	r.follow(page, blocks[records:])
	if !strings.Contains(r.printed, "ok, 1 records") {
		t.Errorf("the attempt is not on record:\n%s", r.printed)
	}

	t.Run("fleet", func(t *testing.T) {
		server := postgrestest.Start(t)
		replica := *r
		replica.T = t
		block := blocks[fleet]
		block.Text = strings.ReplaceAll(block.Text, location, server.Location())
		replica.serve(page, block)
		replica.signIn(token)
		replica.refuses("delete_note", "PERMISSION_DENIED")
		if _, err := os.Stat(filepath.Join(r.dir, "audit-1.log")); err != nil {
			t.Error(err)
		}
	})
}

// signIn connects to the last server over HTTP. Without the token there is no way in.
func (r *reader) signIn(token string) {
	r.Helper()
	endpoint := "http://" + r.address + "/mcp"
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, endpoint, strings.NewReader("{}"))
	if err != nil {
		r.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		r.Errorf("without a token: %s", response.Status)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "page", Version: "1"}, nil)
	r.client, err = client.Connect(r.Context(), &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearing(token)},
	}, nil)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = r.client.Close() })
}

// bearing is a bearer token with which requests are made.
type bearing string

func (b bearing) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(request)
}

// refuses checks that a call of an operation is refused with a code.
func (r *reader) refuses(operation, code string) {
	r.Helper()
	arguments := json.RawMessage(`{"operation":"` + operation + `","params":{"note_id":"first"}}`)
	result, err := r.client.CallTool(r.Context(), &mcp.CallToolParams{Name: "mcp_aql_delete", Arguments: arguments})
	if err != nil {
		r.Fatal(err)
	}
	if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, `"code":"`+code+`"`) {
		r.Errorf("%s is answered with %s, not with %s", operation, text, code)
	}
}
