// Package search finds operations by words: those of their names, descriptions, parameters and types. It knows plurals
// and other endings of words, names in snake_case and camelCase, words of one meaning, and words that are misspelt.
package search

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Weight says how much a word counts by where it stands.
type Weight float32

// The weights of texts.
const (
	Name        Weight = 4 // the name of the operation
	Summary     Weight = 2 // its description
	Param       Weight = 1.2
	Type        Weight = 1   // names of types, and of what is in them
	Explanation Weight = 0.6 // descriptions of parameters
)

// A word counts for less when it is not spelt as in the query.
const (
	sameMeaning = 0.75
	beginning   = 0.6
	oneEdit     = 0.7
	twoEdits    = 0.55
)

// nameGiven is how much better a document is whose name the query is, in any spelling.
const nameGiven = 4

const (
	mostWords  = 16   // of a query that are looked up
	mostNear   = 32   // spellings that are tried for one word
	irrelevant = 0.35 // of the best score: what scores less is not found
)

// Index finds documents, which are known by their number in the order in which they were added. It is safe for
// concurrent use.
type Index struct {
	terms    map[string]int32 // stems of words
	spelling spelling
	postings [][]posting      // by term
	names    []uint8          // how many words the names of documents have
	exact    map[string]int32 // documents by the letters of their names
	scratch  sync.Pool        // of *scores
}

// posting is a word in a document.
type posting struct {
	document int32
	weight   Weight
}

// Builder makes an index.
type Builder struct {
	index Index
	word  wordReader
}

// NewBuilder returns a builder of an index without documents.
func NewBuilder() *Builder {
	return &Builder{index: Index{terms: make(map[string]int32), exact: make(map[string]int32)}}
}

// Begin begins a document with its name.
func (b *Builder) Begin(name string) {
	b.index.exact[lettersIn(name)] = int32(len(b.index.names))
	b.index.names = append(b.index.names, 0)
	b.Add(name, Name)
}

// Add adds a text to the document.
func (b *Builder) Add(text string, weight Weight) {
	document := len(b.index.names) - 1
	for b.word.read(text); b.word.next(); {
		if weight == Name && b.index.names[document] < math.MaxUint8 {
			b.index.names[document]++
		}
		b.post(stemmed(b.word.bytes), int32(document), weight)
	}
}

func (b *Builder) post(term []byte, document int32, weight Weight) {
	id, known := b.index.terms[string(term)]
	if !known {
		id = int32(len(b.index.postings))
		b.index.terms[string(term)] = id
		b.index.postings = append(b.index.postings, nil)
	}
	list := b.index.postings[id]
	if last := len(list) - 1; last >= 0 && list[last].document == document {
		list[last].weight = max(list[last].weight, weight)
		return
	}
	b.index.postings[id] = append(list, posting{document, weight})
}

// Index returns the index. The builder must not be used again.
func (b *Builder) Index() *Index {
	ix := &b.index
	ix.spelling = newSpelling(ix.terms)
	size := len(ix.names)
	ix.scratch.New = func() any {
		return &scores{
			total: make([]float32, size), word: make([]float32, size), covered: make([]float32, size),
			named: make([]uint8, size), isFound: make([]bool, size),
		}
	}
	return ix
}

// scores are those of the documents while a query is answered.
type scores struct {
	total, covered []float32 // of all words, and how much of the query that is
	named          []uint8   // how many words of the name are in the query
	word           []float32 // of one word
	touched        []int32   // documents that have the word
	found          []int32   // documents that have any
	isFound        []bool
}

// Find returns the documents that a query means, the best first, of those that may be found. Documents that are equally
// good keep their order.
func (ix *Index) Find(query string, may func(document int) bool) []int {
	s := ix.scratch.Get().(*scores)
	defer s.release(ix)
	weights := float32(0)
	for _, word := range ix.expand(query) {
		weights += ix.count(s, word)
	}
	if document, named := ix.exact[lettersIn(query)]; named {
		s.total[document] *= nameGiven
	}
	return s.ranked(ix, weights, may)
}

// count adds a word of the query to the scores, and returns how much it weighs: a rare word more than a frequent one.
func (ix *Index) count(s *scores, word []expansion) float32 {
	s.touched = s.touched[:0]
	for _, e := range word {
		for _, p := range ix.postings[e.term] {
			if s.word[p.document] == 0 {
				s.touched = append(s.touched, p.document)
			}
			s.word[p.document] = max(s.word[p.document], float32(p.weight)*e.quality)
		}
	}
	frequency := float64(len(s.touched))
	rarity := float32(math.Log(1 + (float64(len(ix.names))-frequency+0.5)/(frequency+0.5)))
	rarity = max(rarity, 0.2)
	for _, d := range s.touched {
		score := s.word[d]
		s.word[d] = 0
		s.total[d] += rarity * score
		s.covered[d] += rarity
		if score > float32(Summary) {
			s.named[d]++
		}
		if !s.isFound[d] {
			s.isFound[d] = true
			s.found = append(s.found, d)
		}
	}
	return rarity
}

// ranked returns the documents that were found. weights is that of the whole query.
func (s *scores) ranked(ix *Index, weights float32, may func(document int) bool) []int {
	kept, best := s.found[:0], float32(0)
	for _, d := range s.found {
		s.isFound[d] = false
		if !may(int(d)) {
			s.clear(d)
			continue
		}
		fit := min(float32(s.named[d])/float32(max(ix.names[d], 1)), 1)
		s.total[d] *= (0.4 + 0.6*s.covered[d]/weights) * (0.7 + 0.3*fit)
		best = max(best, s.total[d])
		kept = append(kept, d)
	}
	s.found = kept
	kept = slices.DeleteFunc(slices.Clone(kept), func(d int32) bool { return s.total[d] < irrelevant*best })
	slices.SortFunc(kept, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.total[b], s.total[a]), cmp.Compare(ix.names[a], ix.names[b]), cmp.Compare(a, b))
	})
	documents := make([]int, len(kept))
	for i, d := range kept {
		documents[i] = int(d)
	}
	return documents
}

// lettersIn returns the words of a text without what is between them.
func lettersIn(text string) string {
	var letters []byte
	var reader wordReader
	for reader.read(text); reader.next(); {
		letters = append(letters, reader.bytes...)
	}
	return string(letters)
}

func (s *scores) clear(d int32) { s.total[d], s.covered[d], s.named[d] = 0, 0, 0 }

// release makes the scores ready for another query.
func (s *scores) release(ix *Index) {
	for _, d := range s.found {
		s.clear(d)
	}
	s.found = s.found[:0]
	ix.scratch.Put(s)
}
