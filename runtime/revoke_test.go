package aql

import (
	"context"
	"slices"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
)

// After a revocation nothing runs by what people approved before, and they are asked again.
func TestRevocationTakesBackApprovals(t *testing.T) {
	const other = `{"operation":"delete_note","params":{"note_id":"n2"}}`
	caller := Caller{Subject: "ann", Issuer: "test"}
	for name, tt := range map[string]struct {
		revoke func(*Adapter, context.Context) (int, error)
		want   int
		bob    bool // his approval stays
	}{
		"of a caller": {func(a *Adapter, ctx context.Context) (int, error) { return a.RevokeTokens(ctx, caller) }, 2, true},
		"of all":      {(*Adapter).RevokeAllTokens, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, humanOnly())
			first, second := d.ask("ann", deleteN1), d.ask("ann", other)
			bobs := d.ask("bob", deleteN1)
			for _, id := range []string{first, second, bobs} {
				d.approve(id)
			}
			if n, err := tt.revoke(d.adapter, t.Context()); n != tt.want || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			for request, id := range map[string]string{deleteN1: first, other: second} {
				if again := d.ask("ann", request); again == id {
					t.Error("it is the same item")
				}
			}
			if got := d.send("bob", deleteN1); got.Success != tt.bob {
				t.Errorf("bob: %+v", got)
			}
			if n, err := tt.revoke(d.adapter, t.Context()); n != 0 || err != nil {
				t.Errorf("once more: %d, %v", n, err)
			}
		})
	}
}

// A vote from before a revocation does not count together with one after it.
func TestRevocationForgetsVotes(t *testing.T) {
	options := humanOnly()
	options.Policy = twoOfThree
	d := newDesk(t, options)
	id := d.ask("ann", deleteN1)
	if err := d.vote("eve", id, true, "fine", "ops"); err != nil {
		t.Fatal(err)
	}
	if n, err := d.adapter.RevokeAllTokens(t.Context()); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	item, err := d.inbox.Get(t.Context(), d.ask("ann", deleteN1))
	if err != nil || item.ID == id || item.State != approve.Open || len(item.Votes) != 0 {
		t.Errorf("%+v, %v", item, err)
	}
}

// What is denied stays denied, and nobody is asked once more about what waits.
func TestRevocationLeavesDenialsAndQuestions(t *testing.T) {
	const other = `{"operation":"delete_note","params":{"note_id":"n2"}}`
	d := newDesk(t, humanOnly())
	waits, denied := d.ask("ann", deleteN1), d.ask("ann", other)
	if err := d.vote("eve", denied, false, "no"); err != nil {
		t.Fatal(err)
	}
	if n, err := d.adapter.RevokeAllTokens(t.Context()); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if again := d.ask("ann", deleteN1); again != waits {
		t.Error("it is asked anew")
	}
	if got := d.send("ann", other); got.Error.Code != "PERMISSION_DENIED" {
		t.Errorf("%+v", got)
	}
}

// Approvals that are taken back are on record.
func TestRevokedApprovalsAreOnRecord(t *testing.T) {
	f, book := recorded(t, Options{})
	d := newDesk(t, Options{State: f.adapter.options.State, Audit: f.adapter.options.Audit,
		Confirmation: Confirmation{HumanOnly: true}})
	d.approve(d.ask("ann", deleteN1))
	book.lines()
	if n, err := d.adapter.RevokeAllTokens(t.Context()); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if want := []string{"APPROVAL_DENIED delete_note success reason=revoked"}; !slices.Equal(book.lines(), want) {
		t.Errorf("want %q", want)
	}
}
