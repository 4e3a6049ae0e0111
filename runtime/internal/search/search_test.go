package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// D2: a text is split into words as people and programs write them.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"create_invoice":             "create invoice",
		"createInvoice":              "create invoice",
		"HTTPServer parseJSON2":      "http server parse json2",
		"Kündigung, Größe & Œuvre":   "kundigung grosse oeuvre",
		"cafe\u0301":                 "cafe",
		"Άδεια ПРИВЕТ":               "αδεια привет",
		"請求書を作成":                     "請求 求書 書を を作 作成",
		"削 x":                        "削 x",
		"a.b[c]{d}/e":                "a b c d e",
		"\x00\xff":                   "",
		"v2 s3 oauth2":               "v2 s3 oauth2",
		"  ":                         "",
		"don't":                      "don t",
		"\u202ereversed\u200bhidden": "reversed hidden",
	} {
		var words []string
		var reader wordReader
		for reader.read(text); reader.next(); {
			words = append(words, string(reader.bytes))
		}
		if diff := cmp.Diff(want, strings.Join(words, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// D2: words of one root have one stem, and others do not.
func TestStems(t *testing.T) {
	for _, family := range []string{
		"create creates created creating creation", "invoice invoices invoicing invoiced", "company companies",
		"delete deletes deleted deleting deletion", "cancel cancels cancelled cancelling cancellation", "address addresses",
		"activate activates activated activating activation", "add adds added adding", "box boxes", "status statuses",
		"ship ships shipped shipping", "query queries", "approve approves approved approving",
	} {
		words := strings.Fields(family)
		for _, word := range words[1:] {
			if stem(word) != stem(words[0]) {
				t.Errorf("%s is %s, and %s is %s", words[0], stem(words[0]), word, stem(word))
			}
		}
	}
	for _, pair := range []string{"user use", "process procedure", "string strong", "bus business", "this thing"} {
		if one, other, _ := strings.Cut(pair, " "); stem(one) == stem(other) {
			t.Errorf("%s and %s are both %s", one, other, stem(one))
		}
	}
}

// Each word of a group has the others as synonyms, and no word is its own.
func TestSynonyms(t *testing.T) {
	for word, others := range synonyms() {
		for _, other := range others {
			if other == word {
				t.Errorf("%s is a synonym of itself", word)
			}
			if !cmp.Equal(true, contains(synonyms()[other], word)) {
				t.Errorf("%s means %s, and not the other way round", word, other)
			}
		}
	}
}

func contains(list []string, word string) bool {
	for _, one := range list {
		if one == word {
			return true
		}
	}
	return false
}

// index has a few documents, of which each word is known.
func index(names ...string) *Index {
	b := NewBuilder()
	for _, name := range names {
		name, description, _ := strings.Cut(name, ": ")
		b.Begin(name)
		b.Add(description, Summary)
	}
	return b.Index()
}

func anything(int) bool { return true }

// D2: the order of what a query finds.
func TestRanking(t *testing.T) {
	documents := []string{
		"create_user: Adds a user.", "create_user_key: Adds a key.", "delete_user: Removes a user.",
		"list_users: Returns the users.", "rotate_key: Makes a new key and forgets the one before.",
		"get_report: Returns a report about keys of a user.", "deploy_webhook: Tells somebody.",
	}
	ix := index(documents...)
	for _, tt := range []struct {
		name, query string
		first       string // empty: nothing is found
	}{
		{"the name", "create_user", "create_user"},
		{"a longer name", "create user key", "create_user_key"},
		{"the plural", "users list", "list_users"},
		{"another verb", "remove a user", "delete_user"},
		{"a letter is missing", "rotte key", "rotate_key"},
		{"two letters are swapped", "rotaet key", "rotate_key"},
		{"two words are one", "web hook", "deploy_webhook"},
		{"one word is two", "userkey", "create_user_key"},
		{"the beginning of a word", "dep", "deploy_webhook"},
		{"a rare word beats a frequent one", "user report", "get_report"},
		{"only words that say little", "the", "list_users"},
		{"no word", " .*[] ", ""},
		{"something else", "submarine", ""},
		{"many words", strings.Repeat("user ", 100) + "report", "get_report"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if found := ix.Find(tt.query, anything); len(found) > 0 {
				got, _, _ = strings.Cut(documents[found[0]], ":")
			}
			if got != tt.first {
				t.Errorf("%q finds %q first, want %q", tt.query, got, tt.first)
			}
		})
	}
}

// What may not be found is not, and what is left is ranked as without it: a search leaves nothing behind.
func TestFilter(t *testing.T) {
	ix := index("create_user: Adds a user.", "create_group: Adds a group.", "create_role: Adds a role.")
	first := func() []int { return ix.Find("create", func(d int) bool { return d != 0 }) }
	if diff := cmp.Diff([]int{1, 2}, first()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0}, ix.Find("user", anything)); diff != "" {
		t.Errorf("after another search (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2}, first()); diff != "" {
		t.Errorf("again (-want +got):\n%s", diff)
	}
	if found := index().Find("anything", anything); len(found) > 0 {
		t.Errorf("an empty index finds %v", found)
	}
}

// Any text is a query, finds each document once, and gives the same answer twice.
func FuzzFind(f *testing.F) {
	ix := index("create_user: Adds a user.", "rotate_key: Makes a new key.", "請求書: 作成")
	for _, seed := range []string{"create user", "rotaet", "請求", "\xff\x00", "(a|b)*", "CamelCaseHTTP2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		found := ix.Find(query, anything)
		seen := make(map[int]bool)
		for _, d := range found {
			if seen[d] || d < 0 || d > 2 {
				t.Errorf("%q finds %v", query, found)
			}
			seen[d] = true
		}
		if diff := cmp.Diff(found, ix.Find(query, anything)); diff != "" {
			t.Errorf("%q again (-want +got):\n%s", query, diff)
		}
	})
}
