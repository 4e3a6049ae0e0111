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

// Bearer verifies the callers of HTTP by their bearer tokens (RFC 6750).
type Bearer struct {
	// Verify says whose token it is, and when it expires. It returns ErrInvalidToken, possibly wrapped, for one that is not
	// good; any other error means that nobody can say, and refuses the request as well. The text of errors goes to the log.
	Verify func(ctx context.Context, token string) (aql.Caller, time.Time, error)
	// Scopes are what every caller must have.
	Scopes []string
	// ClockSkew is how long after its expiry a token is still accepted.
	ClockSkew time.Duration
	// Resource is the URL of this server, and AuthorizationServers where clients get their tokens. Where they are set,
	// clients that come without a token are told (RFC 9728), by the document that MetadataHandler serves.
	Resource             string
	AuthorizationServers []string
}

// ErrInvalidToken is what Bearer.Verify returns for a token that is not good.
var ErrInvalidToken = errors.New("the token is not valid")

// MetadataPath is where MetadataHandler has to be served.
const MetadataPath = "/.well-known/oauth-protected-resource"

// callerInfo is the name under which the SDK carries the caller with a request.
const callerInfo = "caller"

// require lets only callers through whose token is good.
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

// MetadataHandler serves what clients need to get tokens, at MetadataPath; nil where there is nothing to tell.
func (b *Bearer) MetadataHandler() http.Handler {
	if b == nil || b.Resource == "" {
		return nil
	}
	return auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: b.Resource, AuthorizationServers: b.AuthorizationServers, ScopesSupported: b.Scopes, BearerMethodsSupported: []string{"header"},
	})
}

// metadataURL is where the metadata of a resource is found.
func metadataURL(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return ""
	}
	u.Path, u.RawQuery, u.Fragment = MetadataPath, "", ""
	return u.String()
}
