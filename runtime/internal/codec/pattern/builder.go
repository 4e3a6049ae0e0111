package pattern

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// The bounds of a table, 16 KiB, and of the time to make it, which is regexp's own and about a millisecond. What is beyond them is
// left to regexp.
const (
	mostInstructions = 2000
	mostStates       = 256
	mostEntries      = 8192
	mostSteps        = 100_000
)

// The conditions of an expression look at the characters on both sides of a position: what lies behind is known where a state
// is entered, what lies ahead only when it is left.
const ahead = syntax.EmptyEndLine | syntax.EmptyEndText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary

// side is what a condition can see on one side of a position.
type side uint8

const (
	edge  side = 1 << iota // of the text
	line                   // a line ends here: the edge, or \n
	word                   // a character of a word
	plain side = 0
)

// between returns the conditions that hold between two sides.
func between(behind, next side) syntax.EmptyOp {
	var holds syntax.EmptyOp
	if behind&edge != 0 {
		holds |= syntax.EmptyBeginText
	}
	if behind&line != 0 {
		holds |= syntax.EmptyBeginLine
	}
	if next&edge != 0 {
		holds |= syntax.EmptyEndText
	}
	if next&line != 0 {
		holds |= syntax.EmptyEndLine
	}
	if (behind^next)&word != 0 {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}

// builder makes a machine by following all paths through a program at once.
type builder struct {
	program *syntax.Prog
	machine machine
	sets    []charset
	reads   []int    // the set of each instruction, or -1
	holds   [][]bool // by set and class
	sides   []side   // by class, the last one being the end of the text
	states  []state  // in the order of their rows
	rows    map[string]uint16
	seen    []int // by instruction, the pass that saw it last
	pass    int
	stack   []uint32
	key     []byte
	steps   int
	large   bool
}

// state is a set of instructions, one of which reads the next character or waits for it as a condition.
type state struct {
	instructions []uint32
	behind       side
	waits        bool
}

// newMachine makes the automaton of a sound expression; nil if only a large one would do.
func newMachine(expression string) *machine {
	program, err := programOf(expression)
	if err != nil {
		return nil
	}
	b := newBuilder(program)
	if !b.make() {
		return nil
	}
	m := b.machine // without what it was made of
	return &m
}

func programOf(expression string) (*syntax.Prog, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(parsed.Simplify())
}

func newBuilder(program *syntax.Prog) *builder {
	return &builder{program: program, rows: make(map[string]uint16)}
}

// make makes the machine; false if it is too large.
func (b *builder) make() bool {
	if len(b.program.Inst) > mostInstructions || !b.classify() || !b.build() {
		return false
	}
	b.settle()
	return true
}

// classify finds the classes of characters of a program.
func (b *builder) classify() bool {
	var conditions syntax.EmptyOp
	b.reads, b.seen = make([]int, len(b.program.Inst)), make([]int, len(b.program.Inst))
	for i := range b.program.Inst {
		inst := &b.program.Inst[i]
		if inst.Op == syntax.InstEmptyWidth {
			conditions |= syntax.EmptyOp(inst.Arg)
		}
		b.reads[i] = -1
		if set := charsetOf(inst); set != nil {
			b.reads[i] = b.number(set)
		}
		if b.large {
			return false
		}
	}
	sets := b.sets
	var visible side
	if conditions&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0 {
		sets, visible = append(sets, newline), visible|line
	}
	if conditions&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		sets, visible = append(sets, wordChar), visible|word
	}
	letters, examples, ok := newAlphabet(sets)
	if !ok {
		return false
	}
	b.machine.alphabet = *letters
	for _, example := range examples {
		b.sides = append(b.sides, visible&sideOf(example))
	}
	b.sides = append(b.sides, edge|line)
	b.holds = make([][]bool, len(b.sets))
	for i, set := range b.sets {
		for _, example := range examples {
			b.holds[i] = append(b.holds[i], set.contains(example))
		}
	}
	return true
}

func sideOf(char rune) side {
	switch {
	case newline.contains(char):
		return line
	case wordChar.contains(char):
		return word
	default:
		return plain
	}
}

func (b *builder) number(set charset) int {
	for i, known := range b.sets {
		if sameSet(set, known) {
			return i
		}
	}
	b.sets = append(b.sets, set)
	b.large = len(b.sets) > mostClasses
	return len(b.sets) - 1
}

// build makes the rows of all states that can be reached; false if they are too many.
func (b *builder) build() bool {
	m := &b.machine
	m.next = make([]uint16, verdicts)
	m.start = b.row([]uint32{uint32(b.program.Start)}, edge|line)
	for n := 0; n < len(b.states); n++ {
		row := verdicts + n*(m.classes+1)
		for class, next := range b.sides {
			m.next[row+class] = b.after(b.states[n], class, next)
			if b.large || b.steps > mostSteps {
				return false
			}
		}
	}
	return true
}

// after returns the state that follows one on a character of a class, or on the end of the text.
func (b *builder) after(s state, class int, next side) uint16 {
	instructions := s.instructions
	if s.waits {
		var matches bool
		if instructions, matches, _ = b.follow(instructions, between(s.behind, next), 0); matches {
			return accepted
		}
	}
	if class == b.machine.classes {
		return rejected
	}
	b.steps += len(instructions)
	out := make([]uint32, 0, len(instructions)+1)
	for _, pc := range instructions {
		if set := b.reads[pc]; set >= 0 && b.holds[set][class] {
			out = append(out, b.program.Inst[pc].Out)
		}
	}
	return b.row(append(out, uint32(b.program.Start)), next) // as a match may begin anywhere
}

// row returns the state in which a text continues at some instructions.
func (b *builder) row(from []uint32, behind side) uint16 {
	instructions, matches, waits := b.follow(from, between(behind, plain)&^ahead, ahead)
	if matches {
		return accepted
	}
	if !waits {
		behind = plain // nobody will ask
	}
	b.key = append(b.key[:0], byte(behind))
	for _, pc := range instructions {
		b.key = binary.LittleEndian.AppendUint16(b.key, uint16(pc))
	}
	row, ok := b.rows[string(b.key)]
	if !ok {
		m := &b.machine
		width := m.classes + 1
		if b.large = b.large || len(b.states) == mostStates || len(m.next)+width > mostEntries; b.large {
			return rejected
		}
		row = uint16(len(m.next))
		m.next = append(m.next, make([]uint16, width)...)
		b.rows[string(b.key)] = row
		b.states = append(b.states, state{instructions, behind, waits})
	}
	return row
}

// follow passes over the instructions that read nothing, and returns those at which the paths stop, sorted, and whether the
// program has found a match or a path waits at one of the conditions that are still open.
func (b *builder) follow(from []uint32, holds, open syntax.EmptyOp) (stops []uint32, matches, waits bool) {
	b.pass++
	for b.stack = append(b.stack[:0], from...); len(b.stack) > 0; {
		pc := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		if b.seen[pc] == b.pass {
			continue
		}
		b.seen[pc] = b.pass
		b.steps++
		switch inst := &b.program.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return nil, true, false
		case syntax.InstAlt, syntax.InstAltMatch:
			b.stack = append(b.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			b.stack = append(b.stack, inst.Out)
		case syntax.InstEmptyWidth:
			switch missing := syntax.EmptyOp(inst.Arg) &^ holds; {
			case missing == 0:
				b.stack = append(b.stack, inst.Out)
			case missing&^open == 0:
				stops, waits = append(stops, pc), true
			}
		case syntax.InstFail:
		default:
			stops = append(stops, pc)
		}
	}
	slices.Sort(stops)
	return stops, false, waits
}

// settle replaces the states from which only one verdict can be reached by that verdict.
func (b *builder) settle() {
	m := &b.machine
	width := m.classes + 1
	reaches := make([][verdicts]bool, len(b.states))
	for changed := true; changed; {
		changed = false
		for n := range slices.Backward(reaches) {
			before := reaches[n]
			for _, next := range m.next[verdicts+n*width:][:width] {
				if next < verdicts {
					reaches[n][next] = true
					continue
				}
				for verdict, reached := range reaches[(int(next)-verdicts)/width] {
					reaches[n][verdict] = reaches[n][verdict] || reached
				}
			}
			changed = changed || reaches[n] != before
		}
	}
	settled := func(next uint16) uint16 {
		if next >= verdicts {
			switch reaches[(int(next)-verdicts)/width] {
			case [verdicts]bool{rejected: true}:
				return rejected
			case [verdicts]bool{accepted: true}:
				return accepted
			}
		}
		return next
	}
	for i, next := range m.next {
		m.next[i] = settled(next)
	}
	m.next = slices.Clone(m.next) // without the room to grow
	m.start = settled(m.start)
}
