// Package library has books, authors and publishers that are related to each other, for tests of relations that
// requests select as fields.
package library

import (
	"context"
	"slices"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
)

// Book is something to read.
type Book struct {
	BookID      string            `json:"book_id" aql:"id,preset=minimal"`
	Title       string            `json:"title" aql:"filter,sort,preset=standard"`
	AuthorID    string            `json:"author_id" aql:"filter"`
	EditorID    string            `json:"editor_id,omitempty"`
	SequelID    *string           `json:"sequel_id,omitempty"`
	PublisherID int64             `json:"publisher_id"`
	Marks       map[string]string `json:"marks,omitempty"`
}

// Author writes books.
type Author struct {
	AuthorID string `json:"author_id" aql:"id"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	MentorID string `json:"mentor_id"`
	Home     *Place `json:"home,omitempty"`
}

// Place is where somebody lives.
type Place struct {
	City   string `json:"city"`
	Street string `json:"street"`
}

// Publisher sells books.
type Publisher struct {
	ID    int64  `json:"id" aql:"id"`
	Name  string `json:"name"`
	Phone string `json:"phone"`
}

// Library has them all. Its loaders may run at the same time.
type Library struct {
	Books      []*Book
	Authors    []*Author
	Publishers []*Publisher
	Fail       func(ctx context.Context, l Load) error // before a load; nil: none fails
	Asked      func(said string)                       // learns of req.Selected; nil: nobody asks

	mutex sync.Mutex
	loads []Load
}

// Load is a call of a loader.
type Load struct {
	Loader string
	Keys   []any
}

// Loads returns the calls of loaders since the last time, in their order.
func (l *Library) Loads() []Load {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	loads := l.loads
	l.loads = nil
	return loads
}

func load[K any](ctx context.Context, l *Library, loader string, keys []K) error {
	called := Load{Loader: loader}
	for _, key := range keys {
		called.Keys = append(called.Keys, key)
	}
	l.mutex.Lock()
	l.loads = append(l.loads, called)
	l.mutex.Unlock()
	if l.Fail != nil {
		return l.Fail(ctx, called)
	}
	return nil
}

// Shouted is the title of a book in capital letters, with one more for each letter.
//
//aql:computed
func (b *Book) Shouted() string { return b.Title + "!" }

// GetBookRequest selects a book.
type GetBookRequest struct {
	_      struct{} `aql:"category=READ"`
	BookID string   `json:"book_id" aql:"required"`
	aql.Fields
}

// GetBook returns a book.
func (l *Library) GetBook(_ context.Context, req GetBookRequest) (*Book, error) {
	for _, b := range l.Books {
		if b.BookID == req.BookID {
			return b, nil
		}
	}
	return nil, aql.NotFound("book", req.BookID)
}

// ListBooksRequest selects books.
type ListBooksRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Book]
	aql.Fields
}

// ListBooks lists books.
//
//aql:example {"first":2}
//aql:example {"fields":["title","author.mentor.name"]}
func (l *Library) ListBooks(ctx context.Context, req ListBooksRequest) (*aql.Page[Book], error) {
	if l.Asked != nil {
		for _, path := range []string{"author_id", "editor_id", "author.name", "title"} {
			l.Asked(path + map[bool]string{true: " is selected", false: " is not"}[req.Selected(path)])
		}
	}
	return req.Pointers(ctx, l.Books)
}

// GetAuthorRequest selects an author.
type GetAuthorRequest struct {
	_        struct{} `aql:"category=READ"`
	AuthorID string   `json:"author_id" aql:"required"`
	aql.Fields
}

// GetAuthor returns an author.
func (l *Library) GetAuthor(_ context.Context, req GetAuthorRequest) (*Author, error) {
	for _, a := range l.Authors {
		if a.AuthorID == req.AuthorID {
			return a, nil
		}
	}
	return nil, aql.NotFound("author", req.AuthorID)
}

// ListAuthorsRequest selects authors.
type ListAuthorsRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Fields
}

// ListAuthors lists authors.
func (l *Library) ListAuthors(context.Context, ListAuthorsRequest) ([]Author, error) {
	var all []Author
	for _, a := range l.Authors {
		all = append(all, *a)
	}
	return all, nil
}

// CallAuthor changes the name of an author.
//
//aql:op category=EXECUTE,danger=safe
func (l *Library) CallAuthor(_ context.Context, authorID, name string) error {
	for i, a := range l.Authors {
		if a.AuthorID == authorID {
			renamed := *a
			renamed.Name = name
			l.Authors[i] = &renamed
			return nil
		}
	}
	return aql.NotFound("author", authorID)
}

// BooksOf lists the books of an author.
//
//aql:op category=READ,op=list_books_of
func (l *Library) BooksOf(_ context.Context, authorID string) ([]*Book, error) {
	var found []*Book
	for _, b := range l.Books {
		if b.AuthorID == authorID {
			found = append(found, b)
		}
	}
	return found, nil
}

// GetPublisher returns a publisher.
//
//aql:op category=READ
func (l *Library) GetPublisher(_ context.Context, id int64) (*Publisher, error) {
	for _, p := range l.Publishers {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, aql.NotFound("publisher", "")
}

// AuthorsByID loads authors by their ids.
//
//aql:relation Book.author by=AuthorID,to=get_author,desc='Who wrote it'
//aql:relation Book.editor by=EditorID,to=get_author,param=author_id,preset=credits|full
//aql:relation Author.mentor by=MentorID,to=get_author,param=author_id
func (l *Library) AuthorsByID(ctx context.Context, ids []string) (map[string]*Author, error) {
	found := make(map[string]*Author)
	for _, a := range l.Authors {
		if slices.Contains(ids, a.AuthorID) {
			found[a.AuthorID] = a
		}
	}
	return found, load(ctx, l, "authors", ids)
}

// BooksByID loads books by their ids.
//
//aql:relation Book.sequel by=SequelID,to=get_book,param=book_id
func (l *Library) BooksByID(ctx context.Context, ids []string) (map[string]*Book, error) {
	found := make(map[string]*Book)
	for _, b := range l.Books {
		if slices.Contains(ids, b.BookID) {
			found[b.BookID] = b
		}
	}
	return found, load(ctx, l, "books", ids)
}

// BooksByAuthors loads the books of authors.
//
//aql:relation Author.books by=AuthorID,to=list_books_of,many
func (l *Library) BooksByAuthors(ctx context.Context, authors []string) (map[string][]*Book, error) {
	found := make(map[string][]*Book)
	for _, b := range l.Books {
		if slices.Contains(authors, b.AuthorID) {
			found[b.AuthorID] = append(found[b.AuthorID], b)
		}
	}
	return found, load(ctx, l, "books of", authors)
}

// PublishersByID loads publishers by their ids.
//
//aql:relation Book.publisher by=PublisherID,to=get_publisher,param=id
func (l *Library) PublishersByID(ctx context.Context, ids []int64) (map[int64]*Publisher, error) {
	found := make(map[int64]*Publisher)
	for _, p := range l.Publishers {
		if slices.Contains(ids, p.ID) {
			found[p.ID] = p
		}
	}
	return found, load(ctx, l, "publishers", ids)
}
