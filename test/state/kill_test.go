package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
)

// killings is how often an adapter is killed.
func killings(t *testing.T) int {
	if testing.Short() {
		return 20
	}
	return 200
}

// An adapter that is killed at any point of asking, confirming, running and recording loses nothing that counts:
// nothing ran without its token being spent, no token is good twice, every record that was acknowledged is there, and
// the chain of records holds.
func TestKilledAdapters(t *testing.T) {
	dir := t.TempDir()
	location, executions := filepath.Join(dir, "state.db"), filepath.Join(dir, "executions")
	auditFile := filepath.Join(dir, "audit.log")
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	tokens := make(map[string]string) // by id
	done := make(map[string]bool)
	for round := range killings(t) {
		p := start(t, "cycle", location, executions, auditFile, fmt.Sprintf("r%d", round))
		killed := make(chan struct{})
		// The first output comes when all is open; where the kill falls from there on is left to chance, and sometimes it
		// falls while things are being opened.
		kill := func() { p.Process.Kill(); close(killed) }
		wait := time.Duration(random.IntN(6000)) * time.Microsecond
		if round%5 == 0 {
			time.AfterFunc(wait, kill)
		}
		for first := true; p.out.Scan(); first = false {
			if first && round%5 != 0 {
				time.AfterFunc(wait, kill)
			}
			fields := strings.Fields(p.out.Text())
			switch {
			case len(fields) == 3 && fields[0] == "asked":
				tokens[fields[1]] = fields[2]
			case len(fields) == 2 && fields[0] == "done":
				done[fields[1]] = true
			default:
				t.Errorf("output %q", p.out.Text())
			}
		}
		<-killed
		if err := p.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	summary, err := audit.VerifyFile(t.Context(), auditFile, audit.VerifyOptions{})
	var broken *audit.BrokenError
	if torn := asTorn(err, &broken); err != nil && !torn {
		t.Fatalf("the chain: %v", err)
	}
	executed := make(map[string]int)
	text, err := os.ReadFile(executions)
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.Lines(string(text)) {
		executed[strings.TrimSpace(id)]++
	}
	granted, validated := records(t, auditFile)
	for id, times := range executed {
		switch {
		case times != 1:
			t.Errorf("%s ran %d times", id, times)
		case tokens[id] == "":
			t.Errorf("%s ran without a token that was given out", id)
		case !granted[id]:
			t.Errorf("%s ran and is not on record", id)
		}
	}
	for id := range done {
		if executed[id] == 0 {
			t.Errorf("%s was reported as done and did not run", id)
		}
	}
	if len(validated) < len(executed) {
		t.Errorf("%d tokens were validated for %d executions", len(validated), len(executed))
	}

	// What every token is good for now.
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	adapter, err := newAdapter(aql.Options{State: state, StateTimeout: patience}, func(id string) { executed[id]++ })
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	unused, spent := 0, 0
	for id, token := range tokens {
		before := executed[id]
		a, err := remove(t.Context(), session, "ann", id, token)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case a.Success && before > 0:
			t.Errorf("%s ran again with its token", id)
		case a.Success:
			unused++
		case a.Error.Code == "TOKEN_ALREADY_USED" && before == 0:
			spent++ // killed between spending the token and running: asked again, nothing is lost
		case a.Error.Code != "TOKEN_ALREADY_USED":
			t.Errorf("%s: %+v", id, a.Error)
		}
	}
	t.Logf("%d tokens, %d executions, %d done, %d tokens unused, %d spent in vain, %d records", len(tokens),
		len(executed)-unused, len(done), unused, spent, summary.Records)
}

func asTorn(err error, broken **audit.BrokenError) bool {
	return errors.As(err, broken) && (*broken).Fault == audit.Torn
}

// records returns what the audit file records as granted, by the id of the thing, and which tokens were validated.
func records(t *testing.T, path string) (granted, validated map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	granted, validated = make(map[string]bool), make(map[string]bool)
	for line := range bytes.Lines(text) {
		var r struct {
			Event      string
			TokenID    string `json:"token_id"`
			Token      string `json:"confirmation_token"`
			Parameters struct{ ID string }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			if !bytes.HasSuffix(line, []byte("\n")) {
				continue // torn: never acknowledged
			}
			t.Fatalf("%s: %v", line, err)
		}
		switch audit.Event(r.Event) {
		case audit.ConfirmationGranted:
			granted[r.Parameters.ID] = true
		case audit.TokenValidated:
			validated[r.TokenID+r.Token] = true
		}
	}
	return granted, validated
}
