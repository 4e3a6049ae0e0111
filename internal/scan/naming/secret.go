package naming

import (
	"slices"
	"strings"
)

// secretEnds are the last words of names that mean secrets.
var secretEnds = []string{
	"password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "ssn", "cvv", "cvc",
	"apikey", "api_key", "api_keys", "private_key", "secret_key", "signing_key", "encryption_key", "access_key",
	"secret_access_key", "password_hash", "password_digest", "password_salt", "hashed_password", "secret_hash",
	"token", "tokens", "token_hash", "token_digest", "recovery_codes", "backup_codes", "security_code", "card_number",
	"social_security_number", "totp_seed", "cookie", "webhook_url",
}

// publicTokens are what stands before the word token in names that mean no secret: places in lists and in events.
var publicTokens = []string{
	"page", "next_page", "previous_page", "prev_page", "next", "continuation", "continue", "cursor", "sync", "next_sync",
	"resume", "pagination", "progress", "confirmation", "idempotency", "request", "client_request", "design", "max",
	"input", "output", "prompt", "completion", "cached", "total",
}

// IsSecret reports whether a wire name means something that must not be shown: password_hash, client_secret. Names that
// are about a secret, such as secret_name, token_count, password_changed_at and has_password, do not.
func IsSecret(name string) bool {
	for _, verb := range []string{"has_", "is_", "needs_", "requires_"} {
		if strings.HasPrefix(name, verb) {
			return false
		}
	}
	for _, end := range secretEnds {
		before, ok := strings.CutSuffix(name, end)
		if !ok || before != "" && !strings.HasSuffix(before, "_") {
			continue
		}
		word := strings.TrimSuffix(before, "_")
		if (end == "token" || end == "tokens") && isPublicToken(word) {
			continue
		}
		return true
	}
	return false
}

// isPublicToken reports whether a token of a kind, empty for a mere token, is a place and no secret.
func isPublicToken(kind string) bool {
	return slices.ContainsFunc(publicTokens, func(public string) bool {
		return kind == public || strings.HasSuffix(kind, "_"+public)
	})
}
