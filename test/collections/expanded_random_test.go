package collections_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/library"
)

// relationByHand is a relation as an agent follows it that knows nothing of relations.
type relationByHand struct {
	by, target, operation, param string
	many                         bool
}

// resourceByHand is what such an agent knows of a type.
type resourceByHand struct {
	fields    []string
	relations map[string]relationByHand
}

var resourcesByHand = map[string]resourceByHand{
	"Book": {
		[]string{"book_id", "title", "author_id", "editor_id", "sequel_id", "publisher_id"},
		map[string]relationByHand{
			"author":    {"author_id", "Author", "get_author", "author_id", false},
			"editor":    {"editor_id", "Author", "get_author", "author_id", false},
			"sequel":    {"sequel_id", "Book", "get_book", "book_id", false},
			"publisher": {"publisher_id", "Publisher", "get_publisher", "id", false},
		},
	},
	"Author": {
		[]string{"author_id", "name", "email", "mentor_id", "home"},
		map[string]relationByHand{
			"mentor": {"mentor_id", "Author", "get_author", "author_id", false},
			"books":  {"author_id", "Book", "list_books_of", "author_id", true},
		},
	},
	"Publisher": {[]string{"id", "name", "phone"}, nil},
}

// askingByHand answers selections by asking for each resource by itself.
type askingByHand struct {
	t       *testing.T
	session *aql.Session
}

// ask returns what an operation finds by a key; nil: nothing.
func (h askingByHand) ask(operation, param string, key any) any {
	request, err := json.Marshal(map[string]any{"operation": operation, "params": map[string]any{param: key}})
	if err != nil {
		h.t.Fatal(err)
	}
	var answer struct{ Data any }
	decoded(h.t, []byte(read(h.t, h.session, string(request))), &answer)
	if list, ok := answer.Data.(map[string]any); ok && list["items"] != nil {
		return list["items"]
	}
	return answer.Data
}

// follow returns the resources to which a relation of a resource leads.
func (h askingByHand) follow(r relationByHand, resource map[string]any) (found []map[string]any) {
	key := resource[r.by]
	if key == nil || key == "" || fmt.Sprint(key) == "0" {
		return nil
	}
	list, ok := h.ask(r.operation, r.param, key).([]any)
	if !r.many {
		list, ok = []any{h.ask(r.operation, r.param, key)}, true
	}
	for _, each := range list[:min(len(list), 25)] {
		if of, is := each.(map[string]any); ok && is {
			found = append(found, of)
		}
	}
	return found
}

// choose returns what paths select of a resource.
func (h askingByHand) choose(typ string, resource map[string]any, paths []string) map[string]any {
	out := make(map[string]any)
	rests := make(map[string][]string)
	for _, path := range paths {
		name, rest, _ := strings.Cut(path, ".")
		rests[name] = append(rests[name], rest)
	}
	for name, below := range rests {
		r, is := resourcesByHand[typ].relations[name]
		if !is {
			switch value, has := resource[name]; {
			case !has:
			case slices.Contains(below, ""):
				out[name] = value
			default: // of home
				part := make(map[string]any)
				for _, inner := range below {
					part[inner] = value.(map[string]any)[inner]
				}
				out[name] = part
			}
			continue
		}
		pasted := []any{}
		for _, found := range h.follow(r, resource) {
			paths := slices.DeleteFunc(slices.Clone(below), func(path string) bool { return path == "" })
			part := h.choose(r.target, found, paths)
			if slices.Contains(below, "") {
				whole := h.choose(r.target, found, resourcesByHand[r.target].fields)
				maps.Copy(whole, h.choose(r.target, found, slices.DeleteFunc(paths, func(path string) bool {
					_, is := resourcesByHand[r.target].relations[strings.Split(path, ".")[0]]
					return !is
				})))
				part = whole
			}
			pasted = append(pasted, part)
		}
		switch {
		case r.many:
			out[name] = pasted
		case len(pasted) == 0:
			out[name] = nil
		default:
			out[name] = pasted[0]
		}
	}
	return out
}

// randomPath returns a path into a type through so many relations at most.
func randomPath(r *rand.Rand, typ string, relations int) string {
	of := resourcesByHand[typ]
	names := slices.Sorted(maps.Keys(of.relations))
	if relations == 0 || len(names) == 0 || r.IntN(3) == 0 {
		name := of.fields[r.IntN(len(of.fields))]
		if name == "home" && r.IntN(2) == 0 {
			name += []string{".city", ".street"}[r.IntN(2)]
		}
		return name
	}
	name := names[r.IntN(len(names))]
	if r.IntN(5) == 0 {
		return name
	}
	return name + "." + randomPath(r, of.relations[name].target, relations-1)
}

// randomLibrary returns one in which anything may lead anywhere, or nowhere.
func randomLibrary(r *rand.Rand) *library.Library {
	l := new(library.Library)
	some := func(prefix string, most int) string {
		if i := r.IntN(most + 2); i > 0 {
			return fmt.Sprint(prefix, i)
		}
		return ""
	}
	books, authors := 1+r.IntN(40), 1+r.IntN(5)
	for i := range books {
		b := &library.Book{
			BookID: fmt.Sprint("b", i+1), Title: fmt.Sprint("Title ", r.IntN(9)), AuthorID: some("a", authors),
			EditorID: some("a", authors), PublisherID: int64(r.IntN(4)),
		}
		if sequel := some("b", books); sequel != "" || r.IntN(2) == 0 {
			b.SequelID = &sequel
		}
		l.Books = append(l.Books, b)
	}
	for i := range authors {
		a := &library.Author{AuthorID: fmt.Sprint("a", i+1), Name: fmt.Sprint("Name ", i), MentorID: some("a", authors)}
		if r.IntN(2) == 0 {
			a.Home = &library.Place{City: "Ulm", Street: fmt.Sprint("Weg ", i)}
		}
		l.Authors = append(l.Authors, a)
	}
	for i := range r.IntN(4) {
		l.Publishers = append(l.Publishers, &library.Publisher{ID: int64(i + 1), Name: "P", Phone: fmt.Sprint(i)})
	}
	return l
}

// A selection answers what asking the operation of each relation for each key does, with the answers pasted in.
func TestSelectedRelationsAreWhatTheirOperationsAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 4))
	for range 120 {
		s := libraryAdapter(t, randomLibrary(r), aql.Options{}).NewSession()
		hand := askingByHand{t, s}
		all := hand.ask("list_books", "first", 100).([]any)
		for range 3 {
			paths := []string{"book_id"}
			for range 1 + r.IntN(5) {
				paths = append(paths, randomPath(r, "Book", 3))
			}
			want := []any{}
			for _, book := range all {
				whole := hand.ask("get_book", "book_id", book.(map[string]any)["book_id"]).(map[string]any)
				want = append(want, hand.choose("Book", whole, paths))
			}
			fields, err := json.Marshal(paths)
			if err != nil {
				t.Fatal(err)
			}
			var answer map[string]any
			reply := read(t, s, `{"operation":"list_books","params":{"first":100,"fields":`+string(fields)+`}}`)
			decoded(t, []byte(reply), &answer)
			if answer["success"] != true {
				t.Fatalf("%s: %s", fields, reply)
			}
			if diff := cmp.Diff(want, at(answer, "data", "items")); diff != "" {
				t.Fatalf("%s (-by hand +selected):\n%s", fields, diff)
			}
		}
	}
}

// Requests at the same time load by themselves, and each gets its own answer.
func TestConcurrentSelectionsOfRelations(t *testing.T) {
	adapter := libraryAdapter(t, shelf(), aql.Options{})
	requests := []string{
		`{"operation":"list_books","params":{"fields":["author.mentor.name","editor","sequel.author.books.title"]}}`,
		`{"operation":"get_author","params":{"author_id":"ann","fields":["books.publisher.name","mentor"]}}`,
		`{"operations":[{"operation":"get_book","params":{"book_id":"b1","fields":["author.name"]}},` +
			`{"operation":"get_book","params":{"book_id":"b2","fields":["author.name"]}}]}`,
	}
	ask := func(request string) string { // the cursors of a page are of no interest
		answer, _, _ := strings.Cut(read(t, adapter.NewSession(), request), `,"pageInfo"`)
		return answer
	}
	var want []string
	for _, request := range requests {
		want = append(want, ask(request))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 20 {
				at := (i + k) % len(requests)
				if got := ask(requests[at]); got != want[at] {
					t.Errorf("%s\ngot  %s\nwant %s", requests[at], got, want[at])
				}
			}
		})
	}
	all.Wait()
}
