package pattern

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// machine is a deterministic automaton. A state is the offset of its row in next, which has an entry for each class of
// characters: those of ASCII, which class tells, and as the last one all others, of which none is told from another.
type machine struct {
	start   uint16
	classes int
	class   [utf8.RuneSelf]uint8
	next    []uint16
	empty   bool   // whether the empty string, whose beginning is its end, is a match
	final   []bool // whether the end of the string in a state is a match, by number of row
}

// The states that have no row.
const (
	dead    = 0 // no match can follow
	unclear = 1 // characters beyond ASCII would have to be told apart
	matched = 2 // whatever follows
)

// mostStates and mostInstructions bound the table and the time it takes to make: some ten KiB and a fraction of a
// millisecond.
const (
	mostStates       = 200
	mostInstructions = 500
)

// newMachine makes the automaton of a sound expression; nil if there is none, or only a large one.
func newMachine(expression string) *machine {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > mostInstructions {
		return nil
	}
	for i := range program.Inst {
		const known = syntax.EmptyBeginText | syntax.EmptyEndText
		if inst := &program.Inst[i]; inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&^known != 0 {
			return nil
		}
	}
	b := &builder{program: program, rows: make(map[string]uint16)}
	b.sort()
	return b.build()
}

// builder makes a machine.
type builder struct {
	program *syntax.Prog
	machine machine
	sample  []rune // a character of each class of ASCII
	rows    map[string]uint16
	sets    [][]uint32 // instructions of each row, in the order in which rows were begun
	visited []bool
}

// sort puts the characters that all instructions treat alike into one class.
func (b *builder) sort() {
	var instructions []*syntax.Inst // of different characters
	known := make(map[string]bool)
	for i := range b.program.Inst {
		inst := &b.program.Inst[i]
		if !readsCharacter(inst) {
			continue
		}
		key := string(inst.Rune) + string([]byte{byte(inst.Op), byte(inst.Arg)})
		if !known[key] {
			known[key] = true
			instructions = append(instructions, inst)
		}
	}
	classes := make(map[string]uint8)
	for c := range utf8.RuneSelf {
		signature := make([]byte, len(instructions))
		for i, inst := range instructions {
			if inst.MatchRune(rune(c)) {
				signature[i] = 1
			}
		}
		class, ok := classes[string(signature)]
		if !ok {
			class = uint8(len(classes))
			classes[string(signature)] = class
			b.sample = append(b.sample, rune(c))
		}
		b.machine.class[c] = class
	}
	b.machine.classes = len(classes) + 1
}

func readsCharacter(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	default:
		return false
	}
}

// build makes the rows of all states that can be reached.
func (b *builder) build() *machine {
	m := &b.machine
	m.next = make([]uint16, (matched+m.classes)/m.classes*m.classes) // so that no row has the number of another state
	m.final = make([]bool, len(m.next)/m.classes)
	begin := []uint32{uint32(b.program.Start)}
	m.empty = b.matches(b.closure(begin, syntax.EmptyBeginText|syntax.EmptyEndText))
	m.start = b.row(b.closure(begin, syntax.EmptyBeginText))
	for n := 0; n < len(b.sets); n++ {
		if len(b.sets) > mostStates {
			return nil
		}
		row := b.rows[key(b.sets[n])]
		for class := range m.classes {
			m.next[int(row)+class] = b.after(b.sets[n], class)
		}
	}
	return m
}

// after returns the state that follows a set of instructions on a character of a class.
func (b *builder) after(set []uint32, class int) uint16 {
	beyond := class == len(b.sample)
	var out []uint32
	for _, pc := range set {
		inst := &b.program.Inst[pc]
		if !readsCharacter(inst) {
			continue
		}
		if !beyond {
			if inst.MatchRune(b.sample[class]) {
				out = append(out, inst.Out)
			}
			continue
		}
		switch beyondASCII(inst) {
		case some:
			return unclear
		case all:
			out = append(out, inst.Out)
		}
	}
	// A match may begin at the next character too.
	return b.row(b.closure(append(out, uint32(b.program.Start)), 0))
}

// row returns the state of a set of instructions.
func (b *builder) row(set []uint32) uint16 {
	if len(set) == 0 {
		return dead
	}
	if b.matches(set) {
		return matched
	}
	name := key(set)
	row, ok := b.rows[name]
	if !ok {
		m := &b.machine
		row = uint16(len(m.next))
		m.next = append(m.next, make([]uint16, m.classes)...)
		m.final = append(m.final, b.matches(b.closure(set, syntax.EmptyEndText)))
		b.rows[name] = row
		b.sets = append(b.sets, set)
	}
	return row
}

func (b *builder) matches(set []uint32) bool {
	return slices.ContainsFunc(set, func(pc uint32) bool { return b.program.Inst[pc].Op == syntax.InstMatch })
}

func key(set []uint32) string {
	text := make([]byte, 0, 4*len(set))
	for _, pc := range set {
		text = binary.LittleEndian.AppendUint32(text, pc)
	}
	return string(text)
}

// closure follows the instructions that read nothing. Of conditions, those in holds hold; the end of the text stays in the
// set as a condition that may hold later. The set is sorted.
func (b *builder) closure(from []uint32, holds syntax.EmptyOp) []uint32 {
	b.visited = slices.Grow(b.visited[:0], len(b.program.Inst))[:len(b.program.Inst)]
	clear(b.visited)
	var set []uint32
	for stack := slices.Clone(from); len(stack) > 0; {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b.visited[pc] {
			continue
		}
		b.visited[pc] = true
		switch inst := &b.program.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			switch syntax.EmptyOp(inst.Arg) &^ holds {
			case 0:
				stack = append(stack, inst.Out)
			case syntax.EmptyEndText:
				set = append(set, pc)
			}
		case syntax.InstFail:
		default:
			set = append(set, pc)
		}
	}
	slices.Sort(set)
	return set
}

// coverage is how much of what lies beyond ASCII an instruction matches.
type coverage uint8

const (
	none coverage = iota
	some
	all
)

func beyondASCII(inst *syntax.Inst) coverage {
	if inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL {
		return all
	}
	if len(inst.Rune) == 1 {
		folds := syntax.Flags(inst.Arg)&syntax.FoldCase != 0
		for r := inst.Rune[0]; ; {
			if r >= utf8.RuneSelf {
				return some
			}
			if r = unicode.SimpleFold(r); !folds || r == inst.Rune[0] {
				return none
			}
		}
	}
	covered := none
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		low, high := inst.Rune[i], inst.Rune[i+1]
		switch {
		case low <= utf8.RuneSelf && high == unicode.MaxRune:
			return all
		case high >= utf8.RuneSelf:
			covered = some
		}
	}
	return covered
}
