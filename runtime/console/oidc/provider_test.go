package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	clientID     = "console"
	clientSecret = "the secret of the console"
)

// provider is an OpenID provider of a person who is logged in there already.
type provider struct {
	*httptest.Server
	t       *testing.T
	key     *rsa.PrivateKey
	now     func() time.Time
	claims  map[string]any                           // of the person
	change  func(claims map[string]any)              // what is wrong with a token
	sign    func(p *provider, payload []byte) string // how it is signed; nil: as it should be
	answers func(w http.ResponseWriter) (stop bool)  // in place of the token endpoint

	mu    sync.Mutex
	codes map[string]url.Values // by code, the request that it was given for
}

func newProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{
		t: t, key: key, now: now, codes: make(map[string]url.Values),
		claims: map[string]any{"sub": "248289761001", "groups": []string{"staff", "ops"}},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.configuration)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		p.t.Error(err)
	}
}

func (p *provider) configuration(w http.ResponseWriter, _ *http.Request) {
	p.write(w, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "response_types_supported": []string{"code"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "subject_types_supported": []string{"public"},
	})
}

func (p *provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.write(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: p.key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"},
	}})
}

// authorize gives a code, and leads back.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = asked
	p.mu.Unlock()
	back := asked.Get("redirect_uri") + "?" + url.Values{
		"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL},
	}.Encode()
	http.Redirect(w, r, back, http.StatusFound)
}

// token gives an ID token for a code, once, to the client that has asked for it.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	if p.answers != nil && p.answers(w) {
		return
	}
	code := r.PostFormValue("code")
	p.mu.Lock()
	asked, known := p.codes[code]
	delete(p.codes, code)
	p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if plain, err := url.QueryUnescape(secret); err == nil { // RFC 6749 §2.3.1
		secret = plain
	}
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || id != clientID || secret != clientSecret || r.PostFormValue("grant_type") != "authorization_code" ||
		r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") || asked.Get("code_challenge_method") != "S256" ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		p.write(w, map[string]string{"error": "invalid_grant"})
		return
	}
	claims := maps.Clone(p.claims)
	maps.Copy(claims, map[string]any{
		"iss": p.URL, "aud": clientID, "nonce": asked.Get("nonce"), "iat": p.now().Unix(),
		"exp": p.now().Add(time.Minute).Unix(),
	})
	if asked.Get("max_age") == "0" {
		claims["auth_time"] = p.now().Unix()
	}
	if p.change != nil {
		p.change(claims)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	sign := p.sign
	if sign == nil {
		sign = func(p *provider, payload []byte) string { return p.signed(jose.RS256, p.key, payload) }
	}
	p.write(w, map[string]any{
		"access_token": "x", "token_type": "Bearer", "id_token": sign(p, payload), "expires_in": 60,
	})
}

// signed returns a token with a signature.
func (p *provider) signed(algorithm jose.SignatureAlgorithm, key any, payload []byte) string {
	options := (&jose.SignerOptions{}).WithHeader("kid", "1")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		p.t.Error(err)
		return ""
	}
	signature, err := signer.Sign(payload)
	if err != nil {
		p.t.Error(err)
		return ""
	}
	text, err := signature.CompactSerialize()
	if err != nil {
		p.t.Error(err)
	}
	return text
}
