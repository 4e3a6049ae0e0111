package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Bearer authenticates HTTP callers by bearer tokens (RFC 6750).
type Bearer struct {
	// Verify returns the owner of a token, and when the token expires. Its error is ErrInvalidToken, possibly wrapped, for
	// an invalid token; every other error means that the token cannot be verified now. Both refuse the request. The texts
	// of errors are logged, and not sent to the client.
	Verify func(ctx context.Context, token string) (aql.Caller, time.Time, error)
	// Scopes are the scopes that every caller must have.
	Scopes []string
	// ClockSkew is how long an expired token is still accepted.
	ClockSkew time.Duration
	// Resource is the URL of this server, and AuthorizationServers are the URLs where clients get tokens. If they are set,
	// clients without a token are referred to the document that MetadataHandler serves (RFC 9728).
	Resource             string
	AuthorizationServers []string
}

// ErrInvalidToken is the error of Bearer.Verify for an invalid token.
var ErrInvalidToken = errors.New("the token is not valid")

// MetadataPath is the path at which MetadataHandler must be served.
const MetadataPath = "/.well-known/oauth-protected-resource"

// callerInfo is the key of the caller in the SDK's token information.
const callerInfo = "caller"

// require refuses callers without a valid token.
func (s *Server) require(b *Bearer, next http.Handler) http.Handler {
	verify := func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		caller, expires, err := b.Verify(ctx, token)
		if err == nil && caller.Anonymous() {
			err = errors.New("the verified token names no subject")
		}
		if err != nil {
			s.log.LogAttrs(ctx, slog.LevelInfo, "a bearer token was refused", slog.Any("error", err))
			if errors.Is(err, ErrInvalidToken) {
				return nil, auth.ErrInvalidToken
			}
			return nil, errors.New("the token cannot be verified now")
		}
		return &auth.TokenInfo{
			UserID: caller.Key(), Scopes: caller.Scopes, Expiration: expires, Extra: map[string]any{callerInfo: caller},
		}, nil
	}
	options := &auth.RequireBearerTokenOptions{Scopes: b.Scopes, ClockSkew: b.ClockSkew}
	if b.Resource != "" {
		options.ResourceMetadataURL = metadataURL(b.Resource)
	}
	return auth.RequireBearerToken(verify, options)(next)
}

// MetadataHandler returns the handler of the document from which clients learn where to get tokens (RFC 9728); nil:
// Resource is not set.
func (b *Bearer) MetadataHandler() http.Handler {
	if b == nil || b.Resource == "" {
		return nil
	}
	return auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: b.Resource, AuthorizationServers: b.AuthorizationServers, ScopesSupported: b.Scopes,
		BearerMethodsSupported: []string{"header"},
	})
}

// metadataURL returns the URL of the metadata of a resource.
func metadataURL(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return ""
	}
	u.Path, u.RawQuery, u.Fragment = MetadataPath, "", ""
	return u.String()
}
