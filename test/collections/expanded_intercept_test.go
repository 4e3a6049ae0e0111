package collections_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/test/collections/library"
)

// Interceptors see and change what they do without relations. What one of them takes away does not come back.
func TestInterceptorsAndSelectedRelations(t *testing.T) {
	const fields = `"fields":["book_id","author.name","sequel.title"]`
	for _, tt := range []struct {
		name      string
		intercept func(ctx context.Context, b *library.Book, next aql.Next) (any, error)
		want      string
		loads     int
	}{
		{"nothing changes", func(_ context.Context, b *library.Book, _ aql.Next) (any, error) { return b, nil },
			`{"book_id":"b1","author":{"name":"Ann"},"sequel":{"title":"Two"}}`, 2},
		{"a key that is taken away in place", func(_ context.Context, b *library.Book, _ aql.Next) (any, error) {
			b.AuthorID = ""
			return b, nil
		}, `{"book_id":"b1","author":null,"sequel":{"title":"Two"}}`, 2},
		{"another title", func(_ context.Context, b *library.Book, _ aql.Next) (any, error) {
			other := *b
			other.Title = "Uno"
			return &other, nil
		}, `{"book_id":"b1","author":{"name":"Ann"},"sequel":{"title":"Two"}}`, 2},
		{"a key behind a pointer", func(_ context.Context, b *library.Book, _ aql.Next) (any, error) {
			*b.SequelID = ""
			return b, nil
		}, `{"book_id":"b1","author":{"name":"Ann"},"sequel":null}`, 2},
		{"another key", func(_ context.Context, b *library.Book, _ aql.Next) (any, error) {
			other := *b
			other.AuthorID = "bob"
			return &other, nil
		}, `{"book_id":"b1","author":{"name":"Bob"},"sequel":{"title":"Two"}}`, 3},
		{"the resource", func(context.Context, *library.Book, aql.Next) (any, error) { return (*library.Book)(nil), nil },
			`null`, 2},
		{"the call", func(context.Context, *library.Book, aql.Next) (any, error) { return nil, aql.Denied("no") },
			`PERMISSION_DENIED`, 2},
		{"twice", func(ctx context.Context, _ *library.Book, next aql.Next) (any, error) { return next(ctx) },
			`{"book_id":"b1","author":{"name":"Ann"},"sequel":{"title":"Two"}}`, 2},
		{"twice, with another context", func(ctx context.Context, _ *library.Book, next aql.Next) (any, error) {
			return next(context.WithValue(ctx, tenantKey{}, "other"))
		}, `{"book_id":"b1","author":{"name":"Ann"},"sequel":{"title":"Two"}}`, 4},
	} {
		var seen []string
		intercept := func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
			result, err := next(ctx)
			seen = append(seen, fmt.Sprintf("%s %T", call.Operation.Name, result))
			if err != nil {
				return nil, err
			}
			return tt.intercept(ctx, result.(*library.Book), next)
		}
		l := shelf()
		s := libraryAdapter(t, l, aql.Options{Intercept: []aql.Interceptor{intercept}}).NewSession()
		answer := read(t, s, `{"operation":"get_book","params":{"book_id":"b1",`+fields+`}}`)
		if !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %s", tt.name, answer)
		}
		if diff := cmp.Diff([]string{"get_book *library.Book"}, seen); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", tt.name, diff)
		}
		if loads := l.Loads(); len(loads) != tt.loads {
			t.Errorf("%s: %d loads instead of %d: %v", tt.name, len(loads), tt.loads, loads)
		}
	}
}

type tenantKey struct{}

// An interceptor that changes no key has relations neither loaded nor counted again, whatever else it changes.
func TestChangesByInterceptorsLoadNoRelationAgain(t *testing.T) {
	for name, own := range map[string]bool{"the same context": false, "a context of its own": true} {
		shout := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
			if own {
				ctx = context.WithValue(ctx, tenantKey{}, "other")
			}
			result, err := next(ctx)
			if err != nil {
				return nil, err
			}
			other := *result.(*library.Book)
			other.Title += "?"
			return &other, nil
		}
		l := shelf()
		s := libraryAdapter(t, l, aql.Options{
			Intercept: []aql.Interceptor{shout},
			Quota:     quota.Options{Limits: []quota.Limit{{Operation: "get_author", Limit: 1, Window: quota.Hour}}},
		}).NewSession()
		answer := read(t, s,
			`{"operation":"get_book","params":{"book_id":"b1","fields":["title","author.name","_computed.shouted"]}}`)
		want := `{"success":true,"data":{"title":"One?","author":{"name":"Ann"},"_computed":{"shouted":"One?!"}}`
		if !strings.HasPrefix(answer, want) {
			t.Errorf("%s: got %s, want %s", name, answer, want)
		}
		if diff := cmp.Diff([]library.Load{keys("authors", "ann")}, l.Loads()); diff != "" {
			t.Errorf("%s: loads (-want +got):\n%s", name, diff)
		}
	}
}

// What an interceptor takes away is not told of by the warnings of its relations.
func TestWarningsOfRelationsAreThoseOfTheAnswer(t *testing.T) {
	for author, want := range map[string][]string{
		"ann": {"PERMISSION_DENIED_WARNING: Relation 'book.author' leaves out what operation 'get_author' does not allow"},
		"bob": nil,
	} {
		only := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
			result, err := next(ctx)
			if page, ok := result.(*aql.Page[library.Book]); ok {
				page.Items = slices.DeleteFunc(page.Items, func(b library.Book) bool { return b.AuthorID != author })
			}
			return result, err
		}
		rule := policy.Rule{
			Name: "r", Effect: policy.Deny, Operations: []string{"get_author"}, When: when("author_id", "ann"),
		}
		s := libraryAdapter(t, shelf(), aql.Options{
			Intercept: []aql.Interceptor{only}, Policy: &policy.Policy{Rules: []policy.Rule{rule}},
		}).NewSession()
		answer := read(t, s, `{"operation":"list_books","params":{"fields":["book_id","author.name"]}}`)
		var a map[string]any
		decoded(t, []byte(answer), &a)
		if diff := cmp.Diff(want, warningCodes(a)); diff != "" || !strings.Contains(answer, `"success":true`) {
			t.Errorf("books of %s: %s (-want +got):\n%s", author, answer, diff)
		}
	}
}

// A handler learns that the key of a relation is needed, and a relation whose loader fails fails the call.
func TestHandlersAndSelectedRelations(t *testing.T) {
	l := shelf()
	var said []string
	l.Asked = func(text string) { said = append(said, text) }
	s := libraryAdapter(t, l, aql.Options{}).NewSession()
	read(t, s, `{"operation":"list_books","params":{"fields":["book_id","author.name"]}}`)
	want := []string{
		"author_id is selected", "editor_id is not", "author.name is selected", "title is not",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, fail := range map[string]func(context.Context, library.Load) error{
		"an error": func(context.Context, library.Load) error { return fmt.Errorf("no disk at /var/lib") },
		"a panic":  func(context.Context, library.Load) error { panic("no disk at /var/lib") },
		"a failure": func(context.Context, library.Load) error {
			return aql.NotFound("disk", "d1").WithCause(fmt.Errorf("no disk at /var/lib"))
		},
	} {
		l.Fail = fail
		answer := read(t, s, `{"operation":"list_books","params":{"fields":["author.name"]}}`)
		if strings.Contains(answer, "/var") || strings.Contains(answer, `"success":true`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
	l.Fail = func(context.Context, library.Load) error { return aql.NotFound("author", "ann") }
	var log bytes.Buffer
	s = libraryAdapter(t, l, aql.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).NewSession()
	failed := read(t, s, `{"operation":"list_books","params":{"fields":["author.name"]}}`)
	if !strings.HasPrefix(failure(t, failed), "INTERNAL_ERROR") || strings.Contains(failed, "ann") {
		t.Errorf("what a loader does not find: %s", failed)
	}
	if !strings.Contains(log.String(), "relation Book.author, selected as author") {
		t.Errorf("the log does not say what: %s", log.String())
	}
	l.Fail = nil
	answer := read(t, s, `{"operation":"list_books","params":{"first":0,"fields":["author"]}}`)
	if !strings.Contains(answer, `"items":[]`) {
		t.Errorf("an empty page: %s", answer)
	}
}
