package propose

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/runtime/gen"
)

//go:embed verbs.txt
var verbTable string

// verb is a row of verbs.txt.
type verb struct {
	name     string
	category gen.Category
	danger   gen.Danger
	likely   bool   // the category is not sure
	why      string // what is not obvious about the row
}

// vocabulary is verbs.txt.
type vocabulary struct {
	verbs map[string]verb
	kinds map[string]map[string]bool // how, many, force, noun, final and secret: the words
}

// knownWords reads verbs.txt once.
var knownWords = sync.OnceValue(func() vocabulary {
	v := vocabulary{verbs: make(map[string]verb), kinds: make(map[string]map[string]bool)}
	for line := range strings.Lines(verbTable) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case len(fields) == 2:
			if v.kinds[fields[1]] == nil {
				v.kinds[fields[1]] = make(map[string]bool)
			}
			v.kinds[fields[1]][fields[0]] = true
		default:
			category, likely := strings.CutSuffix(fields[1], "?")
			v.verbs[fields[0]] = verb{
				name: fields[0], category: gen.Category(category), danger: gen.Danger(fields[2]), likely: likely,
				why: strings.Join(fields[4:], " "),
			}
		}
	}
	return v
})

func (v vocabulary) is(kind, word string) bool { return v.kinds[kind][word] }

// particles make another verb of the one in front of them: check out.
var particles = map[string]bool{
	"in": true, "out": true, "up": true, "down": true, "off": true, "on": true, "back": true, "away": true, "over": true,
}

// leading finds the verb that a name begins with, behind words that only tell how it is done, and the words behind it.
// A verb with a particle is a phrase of its own, which nothing is known of unless the table has it.
func (v vocabulary) leading(name string) (found verb, known bool, rest []string) {
	list := strings.Split(name, "_")
	for len(list) > 1 && (v.is("how", list[0]) || v.is("many", list[0]) || v.is("force", list[0])) {
		list = list[1:]
	}
	if len(list) > 1 {
		phrase := list[0] + "_" + list[1]
		if found, known = v.verbs[phrase]; known {
			return found, true, list[2:]
		}
		if particles[list[1]] && (len(list) == 2 || list[1] != "in" && list[1] != "on") {
			return verb{name: phrase}, false, list[2:]
		}
	}
	if found, known = v.verbs[list[0]]; !known {
		found.name = list[0]
	}
	return found, known, list[1:]
}
