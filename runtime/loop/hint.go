package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/decompose"
)

// text is a hint or a pattern as they are compared: without what nobody sees, in small letters, with one space between
// words, and each character as the plain ones that look like it (Unicode's NFKC, with marks apart from their letters).
type text struct {
	exact string // with the marks of letters
	plain string // without: an é is an e, and so is an e with a stroke through it, and a small capital E
	// hidden is how many characters nobody would have seen, and odd is whether one of them is none that honest writing
	// needs.
	hidden int
	odd    bool
	// exactGaps and plainGaps have a gap where something was hidden. Without hidden characters they are empty.
	exactGaps, plainGaps string
	broken               bool     // there was a line break in it
	mixed                bool     // there is a word in it of letters of Latin and of another script
	scripts              []string // of its words, besides Latin
	unescaped            []text   // what it also reads as where it has backslashes; see read
}

// gap stands where something was hidden.
const gap = '\u200b'

// normalize returns the text that a hint is compared as.
func normalize(s string) text {
	n := normalizer{exact: make([]byte, 0, len(s)), plain: make([]byte, 0, len(s)), space: true}
	for _, r := range s { // what is not UTF-8 is U+FFFD
		if '!' <= r && r <= '~' {
			n.addASCII(byte(r))
		} else {
			n.add(r)
		}
	}
	t := &n.text
	t.exact, t.plain = strings.TrimSuffix(string(n.exact), " "), strings.TrimSuffix(string(n.plain), " ")
	if t.hidden > 0 {
		t.exactGaps, t.plainGaps = t.exact, t.plain
		t.exact, t.plain = strings.ReplaceAll(t.exact, string(gap), ""), strings.ReplaceAll(t.plain, string(gap), "")
	}
	return n.text
}

// normalizer makes the text of a hint, character by character.
type normalizer struct {
	text
	exact, plain []byte
	space        bool // the text ends with a space, or is empty
	gapped       bool // what came last was hidden
	word         struct{ latin, other bool }
	before       rune
}

// addASCII does what add does, for the characters of ASCII that are seen: most hints have hardly any others, and long
// ones are read often.
func (n *normalizer) addASCII(c byte) {
	n.before, n.gapped, n.space = rune(c), false, false
	switch {
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
		fallthrough
	case 'a' <= c && c <= 'z':
		n.word.latin = true
		n.mixed = n.mixed || n.word.other
	case c != '_' && (c < '0' || c > '9'):
		n.word.latin, n.word.other = false, false
	}
	n.exact, n.plain = append(n.exact, c), append(n.plain, c)
}

func (n *normalizer) add(r rune) {
	if r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' {
		n.broken = true
	} else if invisible(r) {
		n.hidden++
		n.odd = n.odd || !joins(n.before, r)
		if !n.space && !n.gapped {
			n.exact, n.plain = utf8.AppendRune(n.exact, gap), utf8.AppendRune(n.plain, gap)
		}
		n.gapped = true
		return
	}
	n.before, n.gapped = r, false
	var one [64]byte
	for _, part := range string(decompose.Append(one[:0], r)) {
		if unicode.IsSpace(part) {
			if !n.space {
				n.exact, n.plain = append(n.exact, ' '), append(n.plain, ' ')
			}
			n.space, n.word.latin, n.word.other = true, false, false
			continue
		}
		if part != r && invisible(part) {
			continue
		}
		small := unicode.ToLower(unicode.ToUpper(part)) // an undotted i is an i
		n.exact = utf8.AppendRune(n.exact, small)
		if unicode.In(small, unicode.Mn, unicode.Me) {
			continue
		}
		n.space = false
		n.plain = utf8.AppendRune(n.plain, like(small))
		switch script := scriptOf(small); {
		case kindOf(small) == noWord:
			n.word.latin, n.word.other = false, false
		case script == latin:
			n.word.latin = true
		case script != "":
			n.word.other = true
			if !slices.Contains(n.scripts, script) {
				n.scripts = append(n.scripts, script)
			}
		}
		n.mixed = n.mixed || n.word.latin && n.word.other
	}
}

// invisible reports whether nobody sees a character, and no space in its place.
func invisible(r rune) bool {
	switch {
	case unicode.IsSpace(r):
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Noncharacter_Code_Point):
		return true
	case r == '\u2800' || r == '\U0001d159': // a pattern of Braille without dots, and a note without a head
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// lookalikes are characters that look like one of ASCII and do not decompose into it. That one stands before them.
const lookalikes = "-\u2043\u2212/\u2044\u2215\u29f8|\u01c0\u2223\u2758:\u02d0\u2236\ua789" +
	"aᴀɑbʙcᴄdᴅđeᴇfꜰgɢɡhʜħiɪjᴊkᴋlʟłmᴍnɴoᴏøpᴘqꞯrʀsꜱtᴛŧuᴜvᴠwᴡyʏzᴢ"

// like returns the character of ASCII that a small letter or a sign looks like, or the character itself. Letters of
// other scripts than Latin stay: whole languages would be read as others. See Config.foreign.
func like(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	if unicode.Is(unicode.Pd, r) {
		return '-'
	}
	ascii := r
	for _, l := range lookalikes {
		if l < utf8.RuneSelf {
			ascii = l
		} else if l == r {
			return ascii
		}
	}
	return r
}

// joins reports whether an invisible character is one that honest writing has behind another one: a joiner in a word of
// a script that needs it, or what makes a symbol an emoji.
func joins(before, r rune) bool {
	switch r {
	case '\u200c', '\u200d', '\ufe0e', '\ufe0f':
		return before >= utf8.RuneSelf && scriptOf(before) != latin
	}
	return false
}

// empty reports whether there is nothing to see.
func (t *text) empty() bool { return t.plain == "" }

// digest identifies the hint. Hints that look the same have the same.
func (t *text) digest() string {
	sum := sha256.Sum256([]byte(t.exact))
	return hex.EncodeToString(sum[:16])
}

// Digest identifies what a hint says, to find repetitions. Hints that look the same have the same digest, so that it
// is nothing to bind a decision to.
func Digest(hint string) string {
	t := normalize(hint)
	return t.digest()
}

// Readable reports whether there is something in a hint that a person would see.
func Readable(hint string) bool {
	t := normalize(hint)
	return !t.empty()
}
