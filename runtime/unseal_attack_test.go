package aql

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
)

// C9, REQ-NT-07, T-55: who reads the store, and what a client carries while its user is asked, can have the token, and
// it is good for nothing where only a human can confirm.
func TestTokensOutOfTheStore(t *testing.T) {
	state := new(store.Memory)
	f := newFixture(t, Options{State: state, Confirmation: Confirmation{HumanOnly: true}})
	session := f.adapter.NewCallerSession() // one of a connection returns nothing that opens
	asked := session.Call(f.adapter.WithAsker(t.Context()), "mcp_aql_delete", []byte(deleteN1))
	if asked.Question == nil {
		t.Fatalf("nobody can be asked: %s", asked.JSON)
	}
	sealed, err := session.Seal(t.Context(), asked.Question)
	if err != nil {
		t.Fatal(err)
	}
	token := unseal(t, state, sealed)
	if !strings.HasPrefix(token, "conf_") {
		t.Fatalf("the seal had %q", token)
	}
	text := strings.Replace(deleteN1, `"n1"`, `"n1","_confirmation":"`+token+`"`, 1)
	reply := session.Call(context.Background(), "mcp_aql_delete", []byte(text))
	checkOfficial(t, reply.JSON)
	if !strings.Contains(string(reply.JSON), `"PERMISSION_DENIED"`) || reply.Question != nil || len(f.ran) > 0 {
		t.Errorf("ran %v: %s", f.ran, reply.JSON)
	}
	ctx := WithAnswer(t.Context(), Answer{State: sealed, Approved: true})
	reply = session.Call(ctx, "mcp_aql_delete", []byte(deleteN1))
	if len(f.ran) != 1 {
		t.Errorf("the human's own answer: %s", reply.JSON)
	}
}

// unseal opens a seal with the secret in the store.
func unseal(t *testing.T, state store.Store, sealed string) string {
	t.Helper()
	secret, err := state.Get(t.Context(), "key/seal")
	if err != nil || !secret.Exists() {
		t.Fatalf("the store has no secret: %v", err)
	}
	key, err := hkdf.Key(sha256.New, secret.Value, nil, "aqltag state key: seals", 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		t.Fatal(err)
	}
	token, err := box.Open(nil, data[:12], data[12:], []byte("notes\x00anonymous"))
	if err != nil {
		t.Fatal(err)
	}
	return string(token)
}

// C9, T-55: what a session of HumanOnly says of itself is what it does: nothing speaks of tokens.
func TestHumanOnlySpeaksOfNoTokens(t *testing.T) {
	f := newFixture(t, Options{Confirmation: Confirmation{HumanOnly: true}})
	for _, text := range []string{
		f.adapter.Instructions(),
		f.call("mcp_aql_read", `{"operation":"introspect","params":{"query":"operations","name":"delete_note"}}`),
		f.call("mcp_aql_read", `{"operation":"introspect","params":{"query":"operations"}}`),
	} {
		if strings.Contains(text, "token") || strings.Contains(text, "CONFIRMATION_REQUIRED") {
			t.Errorf("it speaks of tokens: %s", text)
		}
	}
	if got := f.adapter.Instructions(); !strings.Contains(got, "put to the user before it runs") {
		t.Errorf("instructions: %s", got)
	}
}
