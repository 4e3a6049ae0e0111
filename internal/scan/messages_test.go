package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/runtime/gen"
)

// messagesModule has the packages that say what a message of protocol buffers is, and one as protoc-gen-go writes it.
const messagesModule = `
-- go.mod --
module example.com/app

go 1.26

require (
	github.com/aqltag/aqltag v0.0.0
	google.golang.org/protobuf v0.0.0
)

replace github.com/aqltag/aqltag => ./aqltag

replace google.golang.org/protobuf => ./protobuf
-- protobuf/go.mod --
module google.golang.org/protobuf

go 1.26
-- protobuf/reflect/protoreflect/protoreflect.go --
package protoreflect

type Message interface{ IsValid() bool }

type EnumDescriptor interface{ Values() int }
-- protobuf/types/known/timestamppb/timestamppb.go --
package timestamppb

import "google.golang.org/protobuf/reflect/protoreflect"

type Timestamp struct {
	Seconds int64 \x60protobuf:"varint,1,opt,name=seconds,proto3" json:"seconds,omitempty"\x60
}

func (*Timestamp) ProtoReflect() protoreflect.Message { return nil }
-- protobuf/types/known/structpb/structpb.go --
package structpb

import "google.golang.org/protobuf/reflect/protoreflect"

type NullValue int32

func (NullValue) Descriptor() protoreflect.EnumDescriptor { return nil }
-- pb/pb.go --
package pb

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type Color int32

const (
	// RED stands out.
	Color_RED  Color = 0
	Color_BLUE Color = 2
)

var Color_value = map[string]int32{
	"RED":  0,
	"ROSE": 0,
	"BLUE": 2,
}

func (Color) Descriptor() protoreflect.EnumDescriptor { return nil }

// Note is what one writes down.
type Note struct {
	state   struct{}
	NoteId  int64                  \x60protobuf:"varint,1,opt,name=note_id,json=noteId,proto3" json:"note_id,omitempty"\x60
	Color   *Color                 \x60protobuf:"varint,2,opt,name=color,proto3,enum=pb.Color,oneof" json:"color,omitempty"\x60
	At      *timestamppb.Timestamp \x60protobuf:"bytes,3,opt,name=at,proto3" json:"at,omitempty"\x60
	Odd     string                 \x60protobuf:"bytes,4,opt,name=OddName,json=odd,proto3" json:"OddName,omitempty"\x60
	// Types that are valid to be assigned to Body:
	Body    isNote_Body            \x60protobuf_oneof:"body"\x60
	Parts   []*Note                \x60protobuf:"bytes,7,rep,name=parts,proto3" json:"parts,omitempty"\x60
	Sums    map[int32]uint64       \x60protobuf:"bytes,8,rep,name=sums,proto3" json:"sums,omitempty" protobuf_key:"varint,1,opt,name=key" protobuf_val:"varint,2,opt,name=value"\x60
	Ignored string
}

func (*Note) ProtoReflect() protoreflect.Message { return nil }

type isNote_Body interface{ isNote_Body() }

type Note_Zoom struct {
	// zoom is a recording.
	Zoom []byte \x60protobuf:"bytes,6,opt,name=zoom,proto3,oneof"\x60
}

type Note_Text struct {
	Text string \x60protobuf:"bytes,5,opt,name=text,proto3,oneof"\x60
}

func (*Note_Zoom) isNote_Body() {}
func (*Note_Text) isNote_Body() {}

type Opaque struct {
	xxx_hidden_Text string \x60protobuf:"bytes,1,opt,name=text,proto3"\x60
}

func (*Opaque) ProtoReflect() protoreflect.Message { return nil }

type Extended struct {
	Text            *string \x60protobuf:"bytes,1,opt,name=text"\x60
	extensionFields map[int32]string
}

func (*Extended) ProtoReflect() protoreflect.Message { return nil }

type Shade int32

func (Shade) Descriptor() protoreflect.EnumDescriptor { return nil }

type Legacy struct {
	Group *Note              \x60protobuf:"group,1,opt,name=Group,json=group"\x60
	Shade Shade              \x60protobuf:"varint,2,opt,name=shade"\x60
	Flags map[bool]string    \x60protobuf:"bytes,3,rep,name=flags" protobuf_key:"varint,1,opt,name=key" protobuf_val:"bytes,2,opt,name=value"\x60
	One   string             \x60protobuf:"bytes,4,req,name=one"\x60
	Two   string             \x60protobuf:"bytes,5,opt,name=One,json=One,def=a,name=b"\x60
	None  structpb.NullValue \x60protobuf:"varint,6,opt,name=none"\x60
}

func (*Legacy) ProtoReflect() protoreflect.Message { return nil }
`

func messages(app string) string {
	return strings.ReplaceAll(messagesModule, `\x60`, "`") +
		"-- app.go --\npackage app\n\nimport \"example.com/app/pb\"\n" + app
}

// The shape of a message is what its struct tags, the wrappers of its oneofs and the names of its enums say: what
// protojson reads and writes (B8, REQ-TY-04).
func TestMessages(t *testing.T) {
	dir := scantest.Write(t, messages(`
// Keep keeps a note.
//
//aql:op category=CREATE
func Keep(note *pb.Note) (*pb.Note, error) { return note, nil }

// Wrapper embeds a message and is none.
type Wrapper struct{ *pb.Note }
`))
	result := scantest.Load(t, dir)
	if text := scantest.Render(t, dir, result); strings.Contains(text, "error") || len(result.Packages) != 1 {
		t.Fatal(text)
	}
	pkg := result.Packages[0]
	if !pkg.Messages {
		t.Error("the package is said to have no messages")
	}
	var got []string
	for _, f := range fieldsOf(result, "Note") {
		text := f.Name + " " + f.Go + " " + f.Type
		for _, part := range []struct {
			name  string
			value any
			set   bool
		}{
			{"aliases", f.Aliases, len(f.Aliases) > 0}, {"excludes", f.Excludes, len(f.Excludes) > 0},
			{"enum", f.Enum, len(f.Enum) > 0}, {"format", f.Format, f.Format != ""}, {"quoted", "", f.Quoted},
			{"items", itemsText(f.Items), f.Items != nil},
		} {
			if part.set {
				text += strings.TrimRight(fmt.Sprintf(" %s %v", part.name, part.value), " ")
			}
		}
		got = append(got, text)
	}
	want := []string{
		"note_id noteId string aliases [noteId] quoted",
		"color color Color enum [RED ROSE BLUE]",
		"at at string format date-time",
		"odd_name odd string aliases [odd]",
		"text text string excludes [zoom]",
		"zoom zoom string excludes [text] format byte",
		"zoom_encoding zoom string enum [base64]",
		"zoom_mime_type zoom string enum [application/octet-stream]",
		"parts parts array items Note",
		"sums sums object items string quoted",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for _, typ := range pkg.Types {
		values := []gen.EnumValue{{Value: "RED", Description: "Stands out."}, {Value: "ROSE"}, {Value: "BLUE"}}
		if diff := cmp.Diff(values, typ.Values); typ.Name == "Color" && diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	}
}

func fieldsOf(result scan.Result, name string) []gen.Param {
	for _, typ := range result.Packages[0].Types {
		if typ.Name == name {
			return typ.Fields
		}
	}
	return nil
}

func itemsText(items *gen.Param) string {
	if items == nil {
		return ""
	}
	if items.Quoted {
		return items.Type + " quoted"
	}
	return items.Type
}

// Of what protojson reads otherwise than can be told, a diagnostic says what to do (B8).
func TestMessagesThatCannotBeCarried(t *testing.T) {
	dir := scantest.Write(t, messages(`import "context"

//aql:op category=READ
func Opaque(request *pb.Opaque) error { return nil }

//aql:op category=READ
func Extended(request *pb.Extended) error { return nil }

//aql:op category=READ
func Legacy(request *pb.Legacy) error { return nil }

//aql:op category=READ
func Read(id int64) (*pb.Note, error) { return nil, nil }

//aql:op category=READ
func Find(request *pb.Note) (*pb.Note, error) { return request, nil }

//aql:op category=UPDATE
//aql:update get=Find
func Change(id int64, input *pb.Note) (*pb.Note, error) { return input, nil }

//aql:relation pb.Note.parent by=NoteId,to=read,param=id,preset=full
func Parents(ctx context.Context, ids []int64) (map[int64]*pb.Note, error) { return nil, nil }
`))
	var got []string
	for _, d := range scantest.Load(t, dir).Diagnostics {
		if d.Severity == diag.Error {
			got = append(got, d.FieldPath+": "+d.Message+"; "+d.Suggestion)
		}
	}
	want := []string{
		"Opaque: request of Opaque: pb.Opaque is a message of the opaque API, which hides its fields; " +
			"generate it with the open API: option features.(pb.go).api_level = API_OPEN",
		"Extended: request of Extended: pb.Extended is a message with extensions, which other packages may add; " +
			"use a message without extensions, or a struct of your own with the fields that agents may use",
		"Change: Find cannot read what Change updates: a message of protocol buffers is read and merged as a whole; " +
			"write a handler that takes its identifiers and an aql.Patch of the message, reads it and calls Apply",
		"pb.Note.parent: //aql:relation: requests cannot select pb.Note.parent, since it leads from or to a message; " +
			"remove preset=",
		"Legacy.Group: field Legacy.Group: groups cannot be carried; use a field with a message",
		"Legacy.Shade: field Legacy.Shade: the names of the values of pb.Shade are not known; " +
			"generate its package with protoc-gen-go",
		"Legacy.Flags: field Legacy.Flags: maps with keys of type bool cannot be carried as JSON; " +
			"use keys of a string type",
		"Legacy.Two: field Legacy.Two: the message has another field that agents see as \"one\"; " +
			"hide one of the two with //aql:hide",
		"Legacy.None: field Legacy.None: structpb.NullValue cannot be carried; hide the field with //aql:hide",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}
