package collection

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Expression is a Summary of elements of any type.
type Expression struct {
	Count                       bool
	GroupBy, Sum, Avg, Min, Max string
}

// Labelled is an expression with the label that a request gives it.
type Labelled struct {
	Label string
	Expression
}

// Labels returns the summaries that a request wants, in the order of their labels.
func (q *Query[T]) Labels() []Labelled {
	labels := make([]Labelled, 0, len(q.Aggregate))
	for _, label := range slices.Sorted(maps.Keys(q.Aggregate)) {
		labels = append(labels, Labelled{label, Expression(q.Aggregate[label])})
	}
	return labels
}

// Wanted is a summary with the fields that it is about. Those that it does not want are nil.
type Wanted struct {
	Label string
	Count bool
	By    *Field // nil: all elements are one group
	Sum   *Field
	Avg   *Field
	Min   *Field
	Max   *Field
}

// Group is what the elements of one group amount to. Summaries without groups have one group without a name.
type Group struct {
	Name     string
	Count    int
	Sum, Avg Total
	Min, Max Value // Missing: no element has a value
}

// Summed is the answer to a summary.
type Summed struct {
	*Wanted
	Groups []*Group // in the order of their names
}

// ErrGroups is the error of a summary with more groups than may be.
var ErrGroups = errors.New("a summary has more groups than may be")

// missingName is the name of the group of elements that lack the value (MCP-AQL aggregations §3). A text that is the
// same is in that group, too.
const missingName = "null"

// group is a Group that grows.
type group struct {
	Group
	number int64 // value of the field, where that is no text
	turn   int   // of the element that was added last
}

// summing is a Summed that grows.
type summing struct {
	*Wanted
	most    int // groups
	turn    int // of the element, counted from 1
	all     []*group
	texts   map[string]*group
	numbers map[int64]*group
	missing *group // where the field holds no texts
	last    *group // to which an element was added
}

// summaries begins what a query wants to know of its elements.
func (b *Bound) summaries() []summing {
	if len(b.Wanted) == 0 || b.Summed != nil {
		return nil
	}
	list := make([]summing, len(b.Wanted))
	for i := range list {
		list[i] = summing{Wanted: &b.Wanted[i], most: b.MaxGroups}
		if list[i].By == nil {
			list[i].most = 1
			list[i].last = list[i].begin(&group{})
		}
	}
	return list
}

// sum adds the elements of a block that are left to all summaries. It returns false where one has too many groups.
func (s *search) sum(b *block) bool {
	for i := range s.summing {
		if !s.summing[i].addBlock(b) {
			return false
		}
	}
	return true
}

// sumOne adds the element at p to all summaries. It returns false where one has too many groups.
func (s *search) sumOne(p unsafe.Pointer) bool {
	for i := range s.summing {
		if !s.summing[i].add(p) {
			return false
		}
	}
	return true
}

// summed returns the answers to all summaries.
func (s *search) summed() []Summed {
	all := s.Summed
	for i := range s.summing {
		all = append(all, s.summing[i].summed())
	}
	return all
}

// begin adds a group without elements; nil: there are too many.
func (s *summing) begin(g *group) *group {
	if len(s.all) == s.most {
		return nil
	}
	g.Min.Missing, g.Max.Missing = true, true
	s.all = append(s.all, g)
	return g
}

// addBlock adds the elements of a block that are left. It returns false where there are too many groups.
func (s *summing) addBlock(b *block) bool {
	if s.By == nil && s.counts() {
		s.last.Count += b.n
		return true
	}
	for _, at := range b.left() {
		if !s.add(unsafe.Add(b.base, at)) {
			return false
		}
	}
	return true
}

// counts reports whether nothing but the number of elements is wanted.
func (s *summing) counts() bool { return s.Sum == nil && s.Avg == nil && s.Min == nil && s.Max == nil }

// add adds the element at p. It returns false where there are too many groups.
func (s *summing) add(p unsafe.Pointer) bool {
	if s.By == nil {
		s.take(s.last, p)
		return true
	}
	at, present := s.By.at(p)
	var g *group
	switch {
	case !present:
		g = s.withoutValue()
	case s.By.List:
		return s.addEach(at, p)
	default:
		g = s.of(at)
	}
	if g == nil {
		return false
	}
	s.take(g, p)
	return true
}

// addEach adds the element at p once to the group of each different value of the list at at.
func (s *summing) addEach(at, p unsafe.Pointer) bool {
	s.turn++
	l := (*list)(at)
	for i := range l.len {
		g := s.of(unsafe.Add(l.data, uintptr(i)*s.By.Size))
		if g == nil {
			return false
		}
		if g.turn != s.turn {
			g.turn = s.turn
			s.take(g, p)
		}
	}
	return true
}

// of returns the group of the value at p; nil: there are too many.
func (s *summing) of(p unsafe.Pointer) *group {
	switch s.By.Kind {
	case String:
		return s.ofText(*(*string)(p))
	case Text:
		return s.ofText(s.By.Spell(p))
	}
	return s.ofNumber(s.By.Load(p).Int)
}

// ofNumber returns the group of an integer or a boolean; nil: there are too many.
func (s *summing) ofNumber(number int64) *group {
	if s.last != nil && s.last.number == number {
		return s.last
	}
	g := s.numbers[number]
	if g == nil {
		if g = s.begin(&group{number: number}); g == nil {
			return nil
		}
		g.Name = s.By.nameOf(number)
		if s.numbers == nil {
			s.numbers = make(map[int64]*group)
		}
		s.numbers[number] = g
	}
	s.last = g
	return g
}

func (s *summing) ofText(text string) *group {
	if s.last != nil && s.last.Name == text {
		return s.last
	}
	g := s.texts[text]
	if g == nil {
		if !utf8.ValidString(text) {
			return s.ofText(string([]rune(text))) // as it is written
		}
		if g = s.begin(&group{Group: Group{Name: text}}); g == nil {
			return nil
		}
		if s.texts == nil {
			s.texts = make(map[string]*group)
		}
		s.texts[text] = g
	}
	s.last = g
	return g
}

// withoutValue returns the group of the elements that lack the value; nil: there are too many.
func (s *summing) withoutValue() *group {
	switch {
	case s.By.Kind == String || s.By.Kind == Text:
		return s.ofText(missingName)
	case s.missing == nil:
		s.missing = s.begin(&group{Group: Group{Name: missingName}})
	}
	return s.missing
}

// nameOf returns the name of the group of an integer or a boolean.
func (f *Field) nameOf(number int64) string {
	switch f.Kind {
	case Bool:
		return strconv.FormatBool(number != 0)
	case Uint:
		return strconv.FormatUint(uint64(number), 10)
	default:
		return strconv.FormatInt(number, 10)
	}
}

// take adds the element at p to a group.
func (s *summing) take(g *group, p unsafe.Pointer) {
	g.Count++
	if s.Sum != nil {
		g.Sum.add(s.Sum, p)
	}
	if s.Avg != nil {
		g.Avg.add(s.Avg, p)
	}
	if s.Min != nil {
		s.Min.keep(&g.Min, p, -1)
	}
	if s.Max != nil {
		s.Max.keep(&g.Max, p, 1)
	}
}

// keep replaces v by the value of the element at p where a comparison of that with v yields sign.
func (f *Field) keep(v *Value, p unsafe.Pointer, sign int) {
	if p, ok := f.at(p); ok && (v.Missing || f.compare(p, v) == sign) {
		*v = f.Load(p)
	}
}

// summed returns the answer.
func (s *summing) summed() Summed {
	out := Summed{Wanted: s.Wanted, Groups: make([]*Group, len(s.all))}
	for i, g := range s.all {
		out.Groups[i] = &g.Group
	}
	slices.SortFunc(out.Groups, func(a, b *Group) int { return strings.Compare(a.Name, b.Name) })
	return out
}
