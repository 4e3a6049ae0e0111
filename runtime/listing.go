package aql

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/collection"
	"github.com/aqltag/aqltag/runtime/internal/cursor"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Collections bounds what the queries of collections may ask. Zero fields take the default.
type Collections struct {
	// PageSize is the number of items of a page where a request gives none. Default: 25.
	PageSize int
	// MaxPage is the greatest number of items of a page, up to 1,000. A request for more gets so many, with a warning
	// (MCP-AQL pagination §5.3). Default: 100.
	MaxPage int
	// MaxScanned is the greatest number of elements that Query.Stream reads for one answer, and of rows that a database
	// returns to package sqlquery. What the database counts or groups is bounded by the timeout of the operation only.
	// Default: 1,000,000.
	MaxScanned int
	// MaxSkipped is the greatest number of elements in front of a page, where requests name pages by their numbers or by
	// an offset: of those that Query.Stream keeps, and of the rows that package sqlquery makes a database pass over.
	// Default: 10,000.
	MaxSkipped int
	// MaxGroups is the greatest number of groups that one summary of an answer may have. Default: 1,000.
	MaxGroups int
	// MaxRelated is the greatest number of resources that the relations of one answer load. Default: 1,000.
	MaxRelated int
}

// mostPerPage is the greatest MaxPage (MCP-AQL pagination §5.3).
const mostPerPage = 1000

func (c Collections) withDefaults() (Collections, error) {
	for _, option := range []struct {
		name     string
		value    *int
		standard int
		most     int
	}{
		{"MaxPage", &c.MaxPage, gen.MaxPageSize, mostPerPage},
		{"PageSize", &c.PageSize, gen.PageSize, mostPerPage},
		{"MaxScanned", &c.MaxScanned, 1_000_000, math.MaxInt},
		{"MaxSkipped", &c.MaxSkipped, 10_000, math.MaxInt},
		{"MaxGroups", &c.MaxGroups, gen.MaxGroups, math.MaxInt},
		{"MaxRelated", &c.MaxRelated, 1000, math.MaxInt},
	} {
		if *option.value == 0 {
			*option.value = option.standard
		}
		if *option.value < 1 || *option.value > option.most {
			return c, fmt.Errorf("option Collections.%s is %d; it is from 1 to %d", option.name, *option.value, option.most)
		}
	}
	c.PageSize = min(c.PageSize, c.MaxPage)
	return c, nil
}

// describe makes the descriptions of parameters say what the sizes of pages are.
func (c Collections) describe(definitions *gen.Definitions) {
	if c.PageSize != gen.PageSize || c.MaxPage != gen.MaxPageSize {
		describeSizes(definitions, c.PageSize, c.MaxPage)
	}
}

// restore undoes describe.
func (c Collections) restore(definitions *gen.Definitions) {
	if c.PageSize != gen.PageSize || c.MaxPage != gen.MaxPageSize {
		describeSizes(definitions, gen.PageSize, gen.MaxPageSize)
	}
}

func describeSizes(definitions *gen.Definitions, size, most int) {
	definitions.Operations = slices.Clone(definitions.Operations)
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		paging := codec.PagingOf(o)
		if paging == "" {
			continue
		}
		o.Params = slices.Clone(o.Params)
		for k := range o.Params {
			if p := &o.Params[k]; slices.Contains(paging.Params(), p.Name) {
				p.Description = gen.PageDescription(p.Name, size, most)
			}
		}
	}
}

// cursors seals and opens the cursors of an adapter.
type cursors struct {
	adapter string
	options Collections
	gate    *gate.Gate // knows the keys

	texts sync.Pool // *[]byte, for what cursors are bound to

	mutex    sync.Mutex
	known    *cursor.Box
	underway *lookup // of the keys; nil: none
}

// lookup is a look-up of the keys, for all requests that wait for it.
type lookup struct {
	ended chan struct{}
	box   *cursor.Box
	err   error
}

// stateError is why a query could not be answered for want of the state, on its way to the log. It wraps nothing, so
// that nobody takes it for an error of the handler.
type stateError struct{ error }

// box returns what seals cursors. The keys are looked up once. A request waits for them no longer than it may wait for
// the state, and than its own context lasts.
func (c *cursors) box(ctx context.Context) (*cursor.Box, error) {
	c.mutex.Lock()
	if c.known != nil {
		defer c.mutex.Unlock()
		return c.known, nil
	}
	l := c.underway
	if l == nil {
		l = &lookup{ended: make(chan struct{})}
		c.underway = l
		go c.look(context.WithoutCancel(ctx), l) // others wait for it, too
	}
	c.mutex.Unlock()
	ctx, cancel := c.gate.Bound(ctx)
	defer cancel()
	select {
	case <-l.ended:
		return l.box, l.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, stateError{fmt.Errorf("looking up the key of cursors: %w", ctx.Err())}
	}
}

// look looks up the keys.
func (c *cursors) look(ctx context.Context, l *lookup) {
	defer func() {
		if v := recover(); v != nil {
			l.err = newPanicError(v)
		}
		if l.err != nil {
			l.box, l.err = nil, stateError{l.err}
		}
		c.mutex.Lock()
		c.known, c.underway = l.box, nil
		c.mutex.Unlock()
		close(l.ended)
	}()
	keys, err := c.gate.CursorKeys(ctx)
	if l.err = err; err == nil {
		l.box, l.err = cursor.NewBox(keys...)
	}
}

// lister is what an operation with a Query has beside its codecs.
type lister interface {
	begin() inquiry
	// hide returns the decoder of the requests of callers from whom mask keeps fields.
	hide(requests *codec.Request, mask *codec.Mask) *codec.Request
}

// inquiry is the query of a request on its way through a handler.
type inquiry interface {
	// keep keeps the text of the parameter that r has just read.
	keep(r *wire.Reader)
	// ask makes the query ready for the handler (MCP-AQL pagination §2).
	ask(ctx context.Context, c *handled, r *wire.Reader)
	// grouped returns how many summaries with groups it wants.
	grouped() int
	// restore makes the query what ask has made it, whatever a run of the handler took of it.
	restore()
	// err returns why the query cannot be answered.
	err() error
	// check fails where the result is not the page of the request's query: what the request asks would not be so. It
	// warns of a page that is smaller than what was asked for.
	check(ctx context.Context, result any) error
}

// listerOf compiles the lister of an operation whose requests have a Query. The pages that it returns lead to the code
// behind that, and nothing else does: an adapter without collections does not link it.
func listerOf(set *codec.Set, o *gen.Bound, c *cursors) (lister, error) {
	type pages interface {
		lister(set *codec.Set, o *gen.Bound, c *cursors) (lister, error)
	}
	if result := o.Result(); result != nil {
		if page, ok := reflect.Zero(result).Interface().(pages); ok {
			return page.lister(set, o, c)
		}
	}
	return nil, fmt.Errorf("operation %s: it returns no page; the generated code is out of date", o.Name)
}

// listing is the lister of every operation with a Query.
type listing struct {
	query     *codec.Query
	cursors   *cursors
	operation *gen.Operation
}

func newListing(set *codec.Set, o *gen.Bound, c *cursors) (*listing, error) {
	query, err := set.Query(o.Request(), &o.Operation)
	return &listing{query, c, &o.Operation}, err
}

func (l *listing) begin() inquiry { return &asking{listing: l} }

func (l *listing) hide(requests *codec.Request, mask *codec.Mask) *codec.Request {
	return l.query.Hide(requests, mask)
}

// asking is the inquiry of every request with a Query.
type asking struct {
	*listing
	texts   map[int]string // of the operation's own parameters, by their indexes: those that count, as they were sent
	bound   collection.Bound
	box     *cursor.Box
	boundTo [sha256.Size]byte // what cursors are
	clamped int               // the size of a page that was asked for; 0: it is granted
	ignored []string          // parameters of items that there are not
	failed  error             // why the query cannot be answered
}

func (a *asking) err() error { return a.failed }

func (a *asking) keep(r *wire.Reader) {
	own := a.query.Own()
	if len(own) == 0 {
		return
	}
	name, text := r.LastMember()
	at := slices.IndexFunc(own, func(i int) bool {
		p := &a.operation.Params[i]
		return p.Name == name || slices.Contains(p.Aliases, name)
	})
	if at < 0 {
		return
	}
	if _, again := a.texts[own[at]]; !again { // under any of its names
		if a.texts == nil {
			a.texts = make(map[int]string)
		}
		a.texts[own[at]] = text
	}
}

func (a *asking) ask(ctx context.Context, c *handled, r *wire.Reader) {
	gives := func(name string) bool { return a.query.Gives(&c.given, name) }
	if conflict := a.conflict(gives); conflict != "" {
		r.Conflict("pagination", "valid pagination combination", paging(gives), conflict)
		return
	}
	if !r.OK() {
		return
	}
	asked := a.query.Of(c.place, c.mask)
	if len(asked.Words) > gen.MaxSearchWords {
		r.TooMany("query", gen.MaxSearchWords)
		return
	}
	options := &a.cursors.options
	a.bound = collection.Bound{
		Filter: asked.Conditions, Order: asked.Order, MaxScanned: options.MaxScanned, MaxSkipped: options.MaxSkipped,
		Words: asked.Takes, MaxGroups: options.MaxGroups,
	}
	if gives("aggregate") {
		if !a.summarise(c, r) {
			return
		}
		if !asked.Items {
			a.withoutItems(gives)
		}
	}
	if !a.bound.Itemless && !a.cut(ctx, c, r, &asked, gives) {
		return
	}
	if a.query.Computes() {
		a.bound.Compute()
	}
	a.bound.Asked = a.bound.Filter
	asked.Bind(&a.bound)
}

func (a *asking) restore() { a.bound.Restore() }

// seal returns the cursor of a position.
func (a *asking) seal(position []byte) string { return a.box.Seal(a.boundTo[:], position) }

// bindings returns what the cursors of a request are bound to: the adapter, the operation, its parameters but for those
// of pages and fields, and the order. A cursor that is given back with others is none.
func (a *asking) bindings(c *handled, asked *codec.Asked) [sha256.Size]byte {
	room, ok := a.cursors.texts.Get().(*[]byte)
	if !ok {
		fresh := make([]byte, 0, 512)
		room = &fresh
	}
	text := appendText((*room)[:0], a.cursors.adapter)
	text = appendText(text, a.operation.Name)
	text = asked.Filter().Append(text)
	text = appendText(text, asked.Text)
	for _, key := range asked.Order {
		text = appendText(text, key.Field.Name)
		text = append(text, byte(key.Field.Kind), byte(key.Field.Bits), flag(key.Descending))
	}
	for _, i := range a.query.Own() {
		p := &a.operation.Params[i]
		value := p.Default
		if c.given.Has(i) {
			value = a.texts[i]
		}
		if value != "" {
			value = string(wire.Canonical(nil, value))
		}
		text = appendText(appendText(text, p.Name), value)
	}
	sum := sha256.Sum256(text)
	if *room = text; cap(text) <= mostTextKept {
		a.cursors.texts.Put(room)
	}
	return sum
}

// mostTextKept is the capacity up to which the memory of what cursors are bound to is used again.
const mostTextKept = 4096

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// appendText appends a text that no other follows as a part of it.
func appendText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

// errNotThePage is the error of a handler that returns a page which its query has not made.
var errNotThePage = errors.New("the page that the handler returned was not made by the Slice, Pointers, Stream " +
	"or Page of its request's Query")

// madePage is a page of any type.
type madePage interface {
	madeBy() (query *collection.Bound, items int, more bool, total *int)
}

func (a *asking) check(ctx context.Context, result any) error {
	page, ok := result.(madePage)
	if !ok {
		return errNotThePage
	}
	by, items, more, total := page.madeBy()
	if by == nil || by != &a.bound {
		return errNotThePage
	}
	if a.clamped > 0 && (more && items == by.Size || by.Number > 1) {
		there := -1
		if total != nil {
			there = *total
		}
		Warn(ctx, Truncated("items", there, by.Size))
	}
	if a.ignored != nil {
		Warn(ctx, ignoredPaging(a.ignored))
	}
	return nil
}
