package execution_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// diary is a store that keeps all that was ever written to it.
type diary struct {
	store.Store
	mu      sync.Mutex
	written []string
}

func (d *diary) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	d.mu.Lock()
	d.written = append(d.written, key+" = "+string(value))
	d.mu.Unlock()
	return d.Store.Put(ctx, key, value, old, ttl)
}

func (d *diary) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	d.mu.Lock()
	for _, claim := range claims {
		d.written = append(d.written, claim.Key)
	}
	d.mu.Unlock()
	return d.Store.Take(ctx, claims)
}

// has returns what was written with a word in it, as it is or encoded; empty: nothing was.
func (d *diary) has(word string) string {
	forms := []string{word, hex.EncodeToString([]byte(word))}
	for i := range 3 { // wherever it begins in what is encoded in base64
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", i) + word))
		forms = append(forms, encoded[4*((i+2)/3):len(encoded)-4])
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, entry := range d.written {
		for _, form := range forms {
			if strings.Contains(entry, form) {
				return entry
			}
		}
	}
	return ""
}

// tellAll lets executions write all that they can: they end as they are told by the first step.
func tellAll(t *testing.T, in store.Store, keys [][]byte) *execution.Engine {
	t.Helper()
	all := engines(t, 1, in, execution.Options{Keys: keys, Operations: map[string]*execution.Operation{
		"work": {Durable: true, Retry: 1, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
			run.Progress(execution.Progress{Message: "word-of-progress"})
			run.Warn("word-of-a-warning")
			_, err := run.Step(ctx, "word-of-a-step", func(context.Context) ([]byte, error) {
				return []byte(`"word-of-a-step-result"`), nil
			})
			if err != nil {
				t.Error(err)
			}
			switch string(run.Params()) {
			case "word-of-params: cancel":
				_, err := run.Await(ctx, execution.FromPerson, "word-of-a-question",
					func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
						return nil, execution.Waiting{Until: time.Now().Add(time.Hour), About: "word-of-what-it-is-about"}, nil
					})
				if !errors.Is(err, execution.ErrPaused) {
					t.Error(err)
				}
			case "word-of-params: complete":
				return []byte(`"word-of-a-result"`), nil
			}
			return nil, &execution.Failure{
				Code: "INTERNAL_ERROR", Message: "word-of-a-failure", Details: json.RawMessage(`{"a":"word-of-details"}`),
				Final: true,
			}
		}},
	}})
	for _, end := range []string{"cancel", "complete", "fail"} {
		r, err := all[0].Start(t.Context(), execution.Start{
			Operation: "work", CallerKey: ann, Params: []byte("word-of-params: " + end), Once: "word-of-once " + end,
			Canonical: []byte("word-of-canonical"),
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if end == "cancel" {
			if _, err := all[0].Cancel(t.Context(), ann, r.ID, "word-of-a-reason"); err != nil {
				t.Fatal(err)
			}
		}
		ended(t, all[0], r.ID)
		if end == "fail" {
			if _, err := all[0].Retry(t.Context(), ann, r.ID); err != nil {
				t.Fatal(err)
			}
			ended(t, all[0], r.ID)
		}
	}
	return all[0]
}

// With a key, nothing that an execution writes at any time has a word of its author or of its caller.
func TestNoWordIsReadable(t *testing.T) {
	words := []string{
		"word-of-progress", "word-of-a-step", "word-of-a-step-result", "word-of-params", "word-of-a-result",
		"word-of-a-failure", "word-of-details", "word-of-a-reason", "word-of-once", "word-of-canonical",
		"word-of-a-question", "word-of-what-it-is-about", "word-of-a-warning",
	}
	synctest.Test(t, func(t *testing.T) {
		in := &diary{Store: new(store.Memory)}
		e := tellAll(t, in, [][]byte{key("a")})
		for _, word := range words {
			if entry := in.has(word); entry != "" {
				t.Errorf("%s is in the store: %.400s", word, entry)
			}
		}
		page, err := e.List(t.Context(), execution.Query{CallerKey: ann, First: 10})
		if err != nil || len(page.Records) != 3 {
			t.Fatal(page, err)
		}
		for _, r := range page.Records { // whoever has the key reads all of it
			if r.Progress == nil || r.Progress.Message != "word-of-progress" {
				t.Errorf("%s: %+v", r.State, r.Progress)
			}
			switch {
			case r.State == execution.Failed && (r.Failure == nil || r.Failure.Message != "word-of-a-failure"):
				t.Errorf("%+v", r.Failure)
			case r.State == execution.Failed && r.Warnings != "word-of-a-warning":
				t.Errorf("%q", r.Warnings)
			case r.State == execution.Cancelled && r.Reason != "word-of-a-reason":
				t.Errorf("%q", r.Reason)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) { // the same search finds them where there is no key
		in := &diary{Store: new(store.Memory)}
		tellAll(t, in, nil)
		for _, word := range []string{
			"word-of-progress", "word-of-params", "word-of-a-result", "word-of-details", "word-of-a-question",
			"word-of-a-warning",
		} {
			if in.has(word) == "" {
				t.Errorf("%s is not found although it is in the store", word)
			}
		}
	})
}

// Words of a record count for no other one, and neither do those that somebody has written who has no key.
func TestWordsCannotBeMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		e := tellAll(t, in, [][]byte{key("a")})
		page, err := e.List(t.Context(), execution.Query{CallerKey: ann, First: 10})
		if err != nil {
			t.Fatal(err)
		}
		records := make(map[execution.State]map[string]any)
		for _, r := range page.Records {
			entry, err := in.Get(t.Context(), "exec//r/"+r.ID)
			if err != nil {
				t.Fatal(err)
			}
			record := make(map[string]any)
			if err := json.Unmarshal(entry.Value[1:], &record); err != nil {
				t.Fatal(err)
			}
			records[r.State] = record
		}
		rewrite := func(record map[string]any) *execution.Record {
			id := record["id"].(string)
			entry, err := in.Get(t.Context(), "exec//r/"+id)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := in.Put(t.Context(), entry.Key, append([]byte("1"), text...), entry.Version, 0); err != nil {
				t.Fatal(err)
			}
			r, err := e.Get(t.Context(), ann, id)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		completed, failed := records[execution.Completed], records[execution.Failed]
		completed["told"] = failed["told"]
		if r := rewrite(completed); r.Progress != nil || r.Failure != nil || r.Reason != "" {
			t.Errorf("it has the words of another one: %+v %+v", r.Progress, r.Failure)
		}
		delete(failed, "told")
		failed["progress"], failed["reason"] = map[string]any{"message": "forged"}, "forged"
		failed["failure"] = map[string]any{"code": "X", "message": "forged"}
		if r := rewrite(failed); r.Progress != nil || r.Failure != nil || r.Reason != "" {
			t.Errorf("it has forged words: %+v %+v %q", r.Progress, r.Failure, r.Reason)
		}
	})
}

// A process that cannot read the words of a record leaves them as they are.
func TestWordsOfOtherKeysStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		tellAll(t, in, [][]byte{key("a")})
		before, err := in.List(t.Context(), "exec//r/", "", 10)
		if err != nil || len(before) != 3 {
			t.Fatal(err)
		}
		stranger, err := execution.New(execution.Options{Store: in, Keys: [][]byte{key("b")}})
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range before {
			same, err := execution.Rewritten(stranger, entry)
			if err != nil || !same {
				t.Errorf("%s was changed, or %v", entry.Key, err)
			}
		}
	})
}
