package compat_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-PG-11: another style of paging breaks clients, since both the parameters and the answers of the former one are
// gone.
func TestChangesOfPaging(t *testing.T) {
	with := func(paging gen.Paging, page, around, info string) *compat.Snapshot {
		s := newService()
		o := s.operation("list_notes")
		o.Params = nil
		for _, name := range paging.Params() {
			o.Params = append(o.Params, gen.Param{Name: name, Type: "integer"})
		}
		o.Returns.Name = page
		s.typ("NotePage").Fields = append(s.typ("NotePage").Fields, gen.Param{Name: around, Type: info})
		s.typ("NotePage").Name = page
		s.adapter.Types = append(s.adapter.Types, gen.Type{
			Name: info, Kind: gen.KindObject, Fields: []gen.Param{{Name: paging.Params()[1], Type: "integer"}},
		})
		return s.snapshot(t)
	}
	cursor := with(gen.PagingCursor, "NotePage", "pageInfo", "PageInfo")
	numbered := with(gen.PagingPage, "NoteNumberedPage", "pagination", "NumberedPageInfo")
	offset := with(gen.PagingOffset, "NoteOffsetPage", "pagination", "OffsetPageInfo")
	for _, tt := range []struct {
		name          string
		before, after *compat.Snapshot
		want          []string
	}{
		{"the same", numbered, numbered, []string{}},
		{"numbers for cursors", cursor, numbered, []string{
			"breaking parameter-removed list_notes params.first", "breaking parameter-removed list_notes params.after",
			"breaking parameter-removed list_notes params.last", "breaking parameter-removed list_notes params.before",
			"breaking field-removed NoteNumberedPage pageInfo",
		}},
		{"an offset for numbers", numbered, offset, []string{
			"breaking parameter-removed list_notes params.page", "breaking parameter-removed list_notes params.page_size",
			"breaking field-removed OffsetPageInfo page_size",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			breaking := []string{}
			for _, c := range compat.Compare(tt.before, tt.after) {
				if c.Class == compat.Breaking {
					breaking = append(breaking, brief(c))
				}
			}
			if diff := gocmp.Diff(tt.want, breaking); diff != "" {
				t.Errorf("what breaks (-want +got):\n%s", diff)
			}
		})
	}
}
