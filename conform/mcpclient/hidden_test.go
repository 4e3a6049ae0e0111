package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/conform"
)

const token = "token-0123456789"

// C4: a bearer token that the server repeats, wherever it does, reaches no answer, no error and no question.
func TestRepeatedTokenIsHidden(t *testing.T) {
	repeating := func(authorization string) *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "of " + authorization, Version: authorization}, nil)
		server.AddTool(&mcp.Tool{Name: "mcp_aql", Description: authorization,
			InputSchema: map[string]any{"type": "object", "description": authorization}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				switch string(r.Params.Arguments) {
				case `{"how":"fault"}`:
					return nil, errors.New("not for " + authorization)
				case `{"how":"question"}`:
					answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Is it " + authorization + "?",
						RequestedSchema: map[string]any{"type": "object",
							"properties": map[string]any{"yes": map[string]any{"type": "boolean"}}}})
					if err != nil {
						return nil, err
					}
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Action}}}, nil
				case `{"how":"structured"}`:
					return &mcp.CallToolResult{StructuredContent: map[string]any{"for": authorization}}, nil
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "to " + authorization}}}, nil
			})
		return server
	}
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return repeating(r.Header.Get("Authorization"))
	}, nil)
	server := httptest.NewServer(handler)
	defer server.Close()
	var questions []string
	client, err := URL(t.Context(), server.URL, Options{Bearer: token,
		Approve: func(_ context.Context, question string) (bool, error) {
			questions = append(questions, question)
			return true, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	tools, err := client.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said := []any{fmt.Sprint(client.Implementation()), tools[0].Description, string(tools[0].InputSchema)}
	for _, how := range []string{"text", "fault", "question", "structured"} {
		reply, err := client.Call(t.Context(), "mcp_aql", []byte(`{"how":"`+how+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, reply)
	}
	said = append(said, questions)
	for _, one := range said {
		if text := fmt.Sprint(one); strings.Contains(text, token) {
			t.Errorf("it says %q", text)
		}
	}
	if text := fmt.Sprint(said...); strings.Count(text, "Bearer [bearer token]") < 7 {
		t.Errorf("the server was not asked, or the place of the token does not show: %q", text)
	}
}

// C4: errors, and redirects, have neither the token nor what a URL may hold of secrets.
func TestSecretsOfTheURLAreHidden(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "not "+r.Header.Get("Authorization")+" "+r.URL.String(), http.StatusForbidden)
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			http.Redirect(w, r, "http://u:passw0rd@127.0.0.1:1/"+secret+"?key=s3cret", http.StatusTemporaryRedirect)
		},
		"ends the connection": func(w http.ResponseWriter, _ *http.Request) {
			if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
				connection.Close()
			}
		},
		"answers no MCP": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, r.Header.Get("Authorization"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			endpoint := strings.Replace(server.URL, "http://", "http://u:passw0rd@", 1) + "/mcp?key=s3cret"
			_, err := URL(t.Context(), endpoint, Options{Bearer: token})
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			for _, secret := range []string{token, "passw0rd", "s3cret"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error has %s", secret)
				}
			}
		})
	}
	for _, endpoint := range []string{"http://u:passw0rd@h:port/mcp", "http://u:passw0rd@127.0.0.1:1/?key=s3cret"} {
		_, err := URL(t.Context(), endpoint, Options{})
		if err == nil || strings.Contains(err.Error(), "passw0rd") || strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	}
}

// C4: a word that is too short to be a secret is left in answers.
func TestShortTokenIsNotLookedFor(t *testing.T) {
	reply := conform.Reply{Text: "an item"}
	if got := hiddenFor("", "item").text(reply.Text); got != reply.Text {
		t.Error(got)
	}
}
