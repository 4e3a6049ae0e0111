package loop_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
)

func denies(pattern string) policy.LoopLimits { return policy.LoopLimits{Deny: []string{pattern}} }
func asks(pattern string) policy.LoopLimits {
	return policy.LoopLimits{RequiresApproval: []string{pattern}}
}
func approves(pattern string) policy.LoopLimits {
	return policy.LoopLimits{AutoApprove: []string{pattern}}
}

// Hints are free texts about any action (REQ-SL-12). How they are written does not hide what they say, and what they
// hide is not approved of.
func TestHints(t *testing.T) {
	const blocked, paused, goesOn = "blocked", "paused", "goes on"
	for name, tt := range map[string]struct {
		limits policy.LoopLimits
		hint   string
		want   string
	}{
		"as the pattern":           {denies("rm -rf*"), "rm -rf /", blocked},
		"in the middle":            {denies("rm -rf*"), "executing shell command: rm -rf /", blocked},
		"behind a slash":           {denies("rm -rf*"), "/bin/rm -rf /", blocked},
		"behind a quote":           {denies("rm -rf*"), "sh -c 'rm -rf /'", blocked},
		"within a word it is none": {denies("act*"), "redact the text", goesOn},
		"in capitals":              {denies("rm -rf*"), "RM -RF /", blocked},
		"a pattern in capitals":    {denies("RM -RF*"), "rm -rf /", blocked},
		"with more spaces":         {denies("rm -rf*"), "rm \t\n \u2003 -rf /", blocked},
		"with wide letters":        {denies("rm -rf*"), "ｒｍ －ｒｆ /", blocked},
		"with mathematical ones":   {denies("rm -rf*"), "𝐫𝓶 -𝔯𝕗 /", blocked},
		"with a ligature":          {denies("*file*"), "open the ﬁle", blocked},
		"with accents":             {denies("drop_*"), "dro\u0301p_table", blocked},
		"struck through":           {denies("rm -rf*"), "r\u0336m\u0336 -\u0336r\u0336f\u0336", blocked},
		"with invisible marks": {
			denies("rm -rf*"), "r\u200bm\u2060 \u00ad-r\ufe0ff\U000e0041 /", blocked,
		},
		"behind something invisible":      {denies("rm -rf*"), "run\u200brm -rf /", blocked},
		"behind a control character":      {denies("rm -rf*"), "run\u0000rm -rf /", blocked},
		"behind a separator":              {denies("rm -rf*"), "run\u001frm -rf /", blocked},
		"for a space, and in a word":      {denies("rm -rf*"), "run\u200br\u200bm\u200b-r\u2060f /", blocked},
		"with no characters":              {denies("rm -rf*"), "r\ufdd0m\U0001ffff -rf /", blocked},
		"with a note without a head":      {denies("rm -rf*"), "r\U0001d159m -rf /", blocked},
		"emphasized":                      {denies("rm -rf*"), "_rm -rf /_", blocked},
		"strongly emphasized":             {denies("delete*"), "__delete__ *all*", blocked},
		"with an underscore before":       {denies("rm -rf*"), "run_rm -rf /", blocked},
		"in a name it is none":            {denies("delete*"), "list_deleted", goesOn},
		"behind words without spaces":     {denies("rm -rf*"), "运行rm -rf /", blocked},
		"invisible, and nothing else":     {policy.LoopLimits{}, "look\u200bat it", paused},
		"a joiner in a word":              {policy.LoopLimits{}, "نمی\u200cخواهم", goesOn},
		"an emoji":                        {policy.LoopLimits{}, "look at it \u2764\ufe0f", goesOn},
		"with marks of direction":         {denies("rm -rf*"), "\u202erm\u202c -\u2067rf\u2069 /", blocked},
		"in Hebrew":                       {denies("מחק*"), "עכשיו מחק הכל", blocked},
		"with points":                     {denies("מחק*"), "עכשיו מָחַק הכל", blocked},
		"in Arabic, forms":                {denies("حذف*"), "ﺣﺬﻑ الملف", blocked},
		"a pattern with accents":          {denies("löschen*"), "alles lo\u0308schen", blocked},
		"a pattern with an accent":        {denies("löschen*"), "Löschen: alles", blocked},
		"without a star, at the end":      {denies("rm x"), "now rm x", blocked},
		"without a star, not the end":     {asks("foo"), "foo bar", goesOn},
		"two stars":                       {asks("copy*abroad*"), "now copy copy it abroad", paused},
		"any character":                   {asks("op?n*"), "to open it", paused},
		"a letter of another script":      {policy.LoopLimits{}, "rеmоve the file", paused}, // е and о are Cyrillic
		"another script alone":            {policy.LoopLimits{}, "читать файл", goesOn},
		"approved of":                     {approves("remove x*"), "remove x1", goesOn},
		"approved of, and a pipe":         {approves("remove x*"), "remove x1 | y", paused},
		"approved of, and another":        {approves("remove x*"), "remove x1 && y", paused},
		"approved of, in background":      {approves("remove x*"), "remove x1 & y", paused},
		"approved of, a substitution":     {approves("remove x*"), "remove x$(y)", paused},
		"approved of, a backquote":        {approves("remove x*"), "remove x`y`", paused},
		"approved of, a line":             {approves("remove x*"), "remove x\ny", paused},
		"approved of, a wide pipe":        {approves("remove x*"), "remove x ｜ y", paused},
		"approved of, and hidden":         {approves("remove x*"), "remove x\u200b1", paused},
		"approved of, to a file":          {approves("remove x*"), "remove x > y", paused},
		"approved of, from a file":        {approves("remove x*"), "remove x < y", paused},
		"approved of, a variable":         {approves("remove x*"), "remove x ${IFS}", paused},
		"approved of, like a pipe":        {approves("remove x*"), "remove x \u2223 y", paused},
		"approved of, in another script":  {approves("remove x*"), "remove x ꓓꓰꓡ", paused},
		"approved of, in the pattern's":   {approves("lösche*"), "lösche x", goesOn},
		"approved of, in none of its":     {approves("remove x*"), "remove xé", paused},
		"in small capitals":               {denies("rm -rf*"), "ʀᴍ -ʀꜰ /", blocked},
		"with a hyphen":                   {denies("rm -rf*"), "rm \u2010rf /", blocked},
		"with a minus sign":               {denies("rm -rf*"), "rm \u2212rf /", blocked},
		"with a dash":                     {denies("rm -rf*"), "rm \u2013rf /", blocked},
		"with a slash of fractions":       {policy.LoopLimits{}, "rm -rf \u2044", blocked},
		"with a letter of Lisu":           {policy.LoopLimits{}, "Dꓰlete users", paused},
		"with a letter of Han":            {policy.LoopLimits{}, "open file丨x", paused},
		"in letters like Latin, Cyrillic": {denies("deploy*"), "ԁерӏоу now", paused},
		"in letters like Latin, Lisu":     {denies("delete*"), "ꓓꓰꓡꓰꓔꓰ users", paused},
		"in a script of no pattern":       {denies("delete*"), "читать файл", paused},
		"in the script of a pattern":      {asks("удалить*"), "читать файл", goesOn},
		"in a script of what it approves": {
			policy.LoopLimits{Deny: []string{"delete*"}, AutoApprove: []string{"читать*"}}, "это файл", paused,
		},
		"approved of, with an accent": {approves("remove x*"), "rémove x", paused},

		"behind an escaped line break":     {denies("rm -rf*"), `{"script": "set -e\nrm -rf /srv"}`, blocked},
		"behind one that is escaped twice": {denies("rm -rf*"), `{\"script\": \"set -e\\nrm -rf /srv\"}`, blocked},
		"behind an escaped tab":            {denies("rm -rf*"), `printf "all:\n\trm -rf /srv" > Makefile`, blocked},
		"behind a control character's":     {denies("rm -rf*"), `"a\u000a\r\f\v\0\x0a\012rm -rf /srv"`, blocked},
		"with an escaped space":            {denies("rm -rf*"), `rm\u0020-rf`, blocked},
		"in escapes":                       {denies("rm -rf*"), `now \u0072\u006D \x2d\162f \/`, blocked},
		"in escapes of escapes":            {denies("rm -rf*"), `now \u005cu0072\\u006D -rf \/`, blocked},
		"in an escape of letters that are": {denies("rm -rf*"), `\n\uff52m -rf`, blocked},
		"behind an escape, and hidden":     {denies("rm -rf*"), "set -e\\\u200bn\u200brm\u200b-rf", blocked},
		"needs approval behind an escape":  {asks("git push*"), `os.system("true\ngit push")`, paused},
		"risky behind an escape":           {policy.LoopLimits{}, `"set -e\nrm -rf /"`, blocked},
		"of two scripts in an escape":      {policy.LoopLimits{}, `r\u0435move`, paused},
		"with the backslashes of a shell":  {denies("rm -rf*"), `r\m -\rf /srv`, blocked},
		"in two lines of a shell":          {denies("rm -rf*"), "rm \\\n  -rf /srv", blocked},
		"a word in two lines of a shell":   {denies("rm -rf*"), "r\\\nm -rf /srv", blocked},
		"escapes that hide nothing":        {denies("rm -rf*"), `grep "\u00e9\n\x1b[0m\u12" C:\users\new\`, goesOn},
		"a pattern with a backslash":       {denies(`*\windows\*`), `del C:\Windows\x`, blocked},
		"approved of, with a backslash":    {approves("remove x*"), `remove x\y`, paused},
	} {
		t.Run(name, func(t *testing.T) {
			d := loop.Evaluate(loop.For(&policy.Loop{LoopLimits: tt.limits}, "a"), loop.Report{Hint: tt.hint},
				loop.History{Number: 1})
			got := paused
			if d.Continue {
				got = goesOn
			} else if d.Stopped {
				got = blocked
			}
			if got != tt.want {
				t.Errorf("%q %s, want %s: %q", tt.hint, got, tt.want, d.Factors)
			}
		})
	}
}

// Hints of a megabyte are judged as others are.
func TestLongHints(t *testing.T) {
	c := loop.For(&policy.Loop{LoopLimits: policy.LoopLimits{
		Deny: []string{"rm -rf*", "*a*a*a*b", "a*b*c*d*e"}, RequiresApproval: []string{"push*now"},
		AutoApprove: []string{"read*"},
	}}, "a")
	for name, tt := range map[string]struct {
		hint    string
		stopped bool
	}{
		"at the end":        {strings.Repeat("lorem ", 1<<20/6) + "rm -rf /", true},
		"words of the head": {strings.Repeat("push ", 1<<20/5), false},
		"wide letters":      {strings.Repeat("ｒ", 1<<20/3), false},
		"invisible":         {strings.Repeat("\u200b", 1<<20/3), false},
		"invalid":           {strings.Repeat("\xff", 1<<20), false},
		"escaped":           {strings.Repeat(`lorem\n`, 1<<20/7) + "rm -rf /", true},
		"backslashes":       {strings.Repeat(`\`, 1<<20), false},
	} {
		if d := loop.Evaluate(c, loop.Report{Hint: tt.hint}, loop.History{Number: 1}); d.Stopped != tt.stopped {
			t.Errorf("%s: %q", name, d.Factors)
		}
	}
}

// Whatever a hint is: what is denied is blocked however it is surrounded and sprinkled, and whatever stands invisibly
// between its words, hints that look the same have
// the same digest, monitoring pauses nothing, factors are never missing, and nothing of a hint is in them.
func FuzzHints(f *testing.F) {
	for _, hint := range []string{
		"", "rm -rf /", "read_file x", "\u202e\u200b", "ｒｍ", "שלום", "a\xffb", "x; y", "𝓭𝕣op", "e\u0301\u0301", "한글 ﷺ",
		"now launch the missiles", "_launch the missiles_", `a\nlaunch the missiles`, `a\\u006caunch the missiles`,
		`l\\ aunch the missiles\1 7`, "drop database x", "rm -rf /*",
		strings.Repeat("a ", 5000),
	} {
		f.Add(hint, 3)
	}
	limits := policy.LoopLimits{
		Deny: []string{"launch the missile*"}, RequiresApproval: []string{"*push*"}, AutoApprove: []string{"read*"},
	}
	enforcing := loop.For(&policy.Loop{LoopLimits: limits}, "a")
	monitoring := loop.For(&policy.Loop{Mode: policy.Monitoring, LoopLimits: limits}, "a")
	f.Fuzz(func(t *testing.T, hint string, number int) {
		r, h := loop.Report{Hint: hint, Outcome: loop.Failed}, loop.History{Number: number, Blocked: hint}
		if d := loop.Evaluate(monitoring, r, h); !d.Continue || d.Stopped || d.Factors == nil {
			t.Errorf("monitoring has paused %q: %+v", hint, d)
		}
		h = loop.History{Number: 1}
		d := loop.Evaluate(enforcing, loop.Report{Hint: hint}, h)
		if d.Factors == nil || d.Continue != (d.Needs == loop.NeedsNothing) || d.Stopped && d.Continue {
			t.Errorf("%q: %+v", hint, d)
		}
		if !loop.Readable(hint) && d.Needs != loop.NeedsReport {
			t.Errorf("%q says nothing: %+v", hint, d)
		}
		if len(hint) > 12 && !strings.Contains(d.Rule, hint) && // a hint may be the words of a pattern
			strings.Contains(strings.Join(d.Factors, "\n"), hint) {
			t.Errorf("the factors have the hint: %q", d.Factors)
		}
		if utf8.ValidString(hint) {
			if sprinkled := strings.Join(strings.Split(hint, ""), "\u200b"); loop.Digest(sprinkled) != loop.Digest(hint) {
				t.Errorf("%q and %q have other digests", hint, sprinkled)
			}
		}
		if d.Stopped {
			for _, hiding := range []string{
				strings.ReplaceAll(hint, " ", "\u200b"), strings.ReplaceAll(hint, " ", "\u0000 \U0001ffff"),
				strings.Replace(hint, " ", "\u2060", 1), strings.Join(strings.Split(hint, ""), "\u00ad"),
				"\u200b" + hint + "\u200b",
			} {
				if d := loop.Evaluate(enforcing, loop.Report{Hint: hiding}, h); !d.Stopped {
					t.Errorf("%q is blocked, and %q is not: %q", hint, hiding, d.Factors)
				}
			}
		}
		denied := hint + " launch\u2003the m\u00adissiles " + hint
		if d := loop.Evaluate(enforcing, loop.Report{Hint: denied}, h); !d.Stopped {
			t.Errorf("%q is not blocked: %q", denied, d.Factors)
		}
	})
}
