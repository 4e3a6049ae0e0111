package naming_test

import (
	"testing"

	"github.com/aqltag/aqltag/internal/scan/naming"
)

// B5, REQ-IN-16: names that mean secrets are told from those that are only about one.
func TestIsSecret(t *testing.T) {
	tests := map[string]bool{
		"password": true, "password_hash": true, "token_hash": true, "signing_secret": true, "client_secret": true,
		"api_key": true, "stripe_api_key": true, "private_key": true, "access_token": true, "refresh_token": true,
		"token": true, "credential": true, "credentials": true, "ssn": true, "cvv": true, "user_password": true,
		"secret_access_key": true, "bearer_token": true, "id_token": true, "webhook_secret": true,
		"cookie": true, "session_cookie": true, "webhook_url": true, "slack_webhook_url": true,

		"token_count": false, "next_page_token": false, "page_token": false, "continuation_token": false,
		"secret_name": false, "password_changed_at": false, "etag": false, "has_password": false, "key": false,
		"public_key": false, "input_tokens": false, "max_tokens": false, "total_tokens": false, "secretary": false,
		"tokenizer": false, "idempotency_key": false, "compass": false, "token_type": false, "lesson": false,
		"cookie_count": false, "has_cookie": false, "webhook_id": false, "feed_url": false, "is_cookie": false,
	}
	for name, want := range tests {
		if got := naming.IsSecret(name); got != want {
			t.Errorf("IsSecret(%q) = %t", name, got)
		}
	}
}
