package verifytest

import "testing"

// Where only some calls of the store fail, each has its turn in time; and what has failed can be repeated.
func TestAllCallsHaveTheirTurn(t *testing.T) {
	const every = 9
	firsts := make(map[int]bool)
	for range 10_000 {
		first, step := (&Options{Every: every}).calls()
		if first < 1 || first > every || step != every {
			t.Fatalf("from call %d on, each %dth", first, step)
		}
		firsts[first] = true
	}
	if len(firsts) != every {
		t.Errorf("the first is one of %v", firsts)
	}
	for name, tt := range map[string]struct{ o, want Options }{
		"a first call that is given": {Options{Every: 9, First: 4}, Options{Every: 9, First: 4}},
		"each call":                  {Options{}, Options{Every: 1, First: 1}},
	} {
		if first, step := tt.o.calls(); first != tt.want.First || step != tt.want.Every {
			t.Errorf("%s: from call %d on, each %dth", name, first, step)
		}
	}
}
