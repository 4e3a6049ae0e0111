package shapes

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// reflectPath is the import path of the package whose types say what a message and an enum of protocol buffers is.
const reflectPath = "google.golang.org/protobuf/reflect/protoreflect"

// isMessage reports whether t is a message of protocol buffers: a struct that protoc-gen-go generated. The package
// protojson reads and writes it.
func isMessage(t types.Type) bool {
	_, isStruct := t.Underlying().(*types.Struct)
	return isStruct && declaresMethod(t, "ProtoReflect", "Message")
}

// declaresMethod reports whether t itself, and no struct that it embeds, has a method that returns a type of
// reflectPath.
func declaresMethod(t types.Type, method, result string) bool {
	named, ok := t.(*types.Named)
	if !ok || EmbedsEndlessly(named) {
		return false
	}
	object, index, _ := types.LookupFieldOrMethod(types.NewPointer(named), false, nil, method)
	fn, ok := object.(*types.Func)
	return ok && len(index) == 1 && fn.Signature().Params().Len() == 0 && fn.Signature().Results().Len() == 1 &&
		gotype.Is(fn.Signature().Results().At(0).Type(), reflectPath, result)
}

// protoField is what the struct tag of a message's field says.
type protoField struct {
	name     string // in the .proto file
	json     string
	number   int
	required bool
	group    bool
}

func parseProtoField(tag string) protoField {
	var f protoField
	for i, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case i == 0:
			f.group = part == "group"
		case i == 1:
			f.number, _ = strconv.Atoi(part)
		case part == "req":
			f.required = true
		case key == "name":
			f.name = value
		case key == "json":
			f.json = value
		case key == "def": // the rest is the default
			return f.complete()
		}
	}
	return f.complete()
}

func (f protoField) complete() protoField {
	if f.json == "" {
		f.json = f.name
	}
	return f
}

// fillMessage makes the shape of a message, as protojson reads and writes it.
func (m *Maker) fillMessage(out *Shape) *Fault {
	out.Message = true
	if m.fillWellKnown(out) {
		return nil
	}
	out.Kind = Struct
	st := out.Type.Underlying().(*types.Struct)
	if fault := m.messageFault(out.Type, st); fault != nil {
		return fault
	}
	for i := range st.NumFields() {
		v, tag := st.Field(i), reflect.StructTag(st.Tag(i))
		if text, ok := tag.Lookup("protobuf"); ok && !m.hides(v) {
			m.addMessageField(out, v, parseProtoField(text), "")
		}
		group, ok := tag.Lookup("protobuf_oneof")
		if !ok || m.hides(v) {
			continue
		}
		for _, member := range m.oneofMembers(out.Type, v.Type()) {
			m.addMessageField(out, member.v, member.protoField, group)
		}
	}
	m.structs = append(m.structs, out)
	return nil
}

// messageFault returns why nothing certain is known of the JSON of a message; nil: all is.
func (m *Maker) messageFault(t types.Type, st *types.Struct) *Fault {
	for field := range st.Fields() {
		switch name := field.Name(); {
		case strings.HasPrefix(name, "xxx_hidden_"):
			return &Fault{
				Message:    fmt.Sprintf("%s is a message of the opaque API, which hides its fields", m.text(t)),
				Suggestion: "generate it with the open API: option features.(pb.go).api_level = API_OPEN",
			}
		case name == "extensionFields", name == "XXX_InternalExtensions":
			return &Fault{
				Message:    fmt.Sprintf("%s is a message with extensions, which other packages may add", m.text(t)),
				Suggestion: "use a message without extensions, or a struct of your own with the fields that agents may use",
			}
		}
	}
	return nil
}

// oneofMember is a member of a oneof: the only field of the struct that wraps it.
type oneofMember struct {
	protoField
	v *types.Var
}

// oneofMembers finds the members of a oneof, whose field in the message has an interface for its type.
func (m *Maker) oneofMembers(message, t types.Type) []oneofMember {
	choice, ok := t.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var members []oneofMember
	scope := m.ScopeOf(message.(*types.Named).Obj().Pkg())
	for _, name := range scope.Names() {
		object, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() {
			continue
		}
		wrapper, ok := object.Type().Underlying().(*types.Struct)
		if !ok || wrapper.NumFields() != 1 || !types.Implements(types.NewPointer(object.Type()), choice) {
			continue
		}
		if text, ok := reflect.StructTag(wrapper.Tag(0)).Lookup("protobuf"); ok {
			members = append(members, oneofMember{parseProtoField(text), wrapper.Field(0)})
		}
	}
	slices.SortFunc(members, func(a, b oneofMember) int { return a.number - b.number })
	return members
}

// addMessageField adds a field to the shape of a message. Agents see the name in the .proto file, and may use that of
// protojson too.
func (m *Maker) addMessageField(out *Shape, v *types.Var, proto protoField, oneof string) {
	path := out.Go.Name + "." + v.Name()
	tag := m.tags.Read(v, path)
	tag.Name, tag.Named, tag.FromJSON, tag.Original, tag.Quoted = proto.name, true, true, "", false
	if f := tag.Field; f != nil && strings.HasPrefix(source.FirstComment(f.Doc, f.Comment).Text(), proto.name+" ") {
		tag.GoName = proto.name // with which its comment begins
	}
	declaration := func() Declaration { return Declaration{Path: path, Tag: tag, Var: v} }
	if !naming.IsValid(tag.Name) {
		tag.Name = naming.ForField(proto.name, v.Name())
	}
	if proto.json != tag.Name {
		tag.Original = proto.json
	}
	if proto.required {
		tag.Items = append(tag.Items, tags.Flag("required", tag.At))
	}
	shape, fault := m.messageValue(v.Type(), path)
	switch {
	case fault != nil:
	case proto.group:
		fault = &Fault{Message: "groups cannot be carried", Suggestion: "use a field with a message"}
	case slices.ContainsFunc(out.Fields, func(f Field) bool { return f.Tag.Name == tag.Name }):
		fault = &Fault{
			Message:    fmt.Sprintf("the message has another field that agents see as %q", tag.Name),
			Suggestion: "hide one of the two with //aql:hide",
		}
	}
	if fault != nil {
		out.Faulty = true
		if !fault.Invalid && !m.Editable(v.Pkg()) {
			out.Foreign = append(out.Foreign, ForeignFault{declaration(), fault})
			return
		}
		m.reportFault(declaration(), fault)
		return
	}
	out.Fields = append(out.Fields, Field{
		Declaration: declaration(), Selector: []string{v.Name()}, Shape: shape, Position: m.Position(v.Pos()),
		Param: gen.Param{Go: proto.json, OmitEmpty: true}, OneOf: oneof,
	})
}

// messageValue makes the shape of a value in a message. Integers of 64 bits travel in strings, and enums by name.
func (m *Maker) messageValue(t types.Type, place string) (*Shape, *Fault) {
	t = types.Unalias(t)
	switch u := t.(type) {
	case *types.Pointer:
		elem, fault := m.messageValue(u.Elem(), place)
		return &Shape{Kind: Pointer, Type: t, Elem: elem}, fault
	case *types.Slice:
		if isByte(u.Elem()) {
			return m.Of(t, place)
		}
		elem, fault := m.messageValue(gotype.Pointee(u.Elem()), place)
		return &Shape{Kind: Slice, Type: t, Elem: elem}, fault
	case *types.Map:
		key, fault := m.Of(u.Key(), place)
		if fault == nil && key.Kind == Bool {
			fault = &Fault{
				Message: "maps with keys of type bool cannot be carried as JSON", Suggestion: "use keys of a string type",
			}
		}
		if fault != nil {
			return nil, fault
		}
		elem, fault := m.messageValue(gotype.Pointee(u.Elem()), place)
		return &Shape{Kind: Map, Type: t, Key: key, Elem: elem}, fault
	case *types.Named:
		if declaresMethod(t, "Descriptor", "EnumDescriptor") {
			return m.messageEnum(u)
		}
	case *types.Basic:
		switch u.Kind() {
		case types.Int64:
			return &Shape{Kind: Int, Type: t, Bits: 64, Quoted: true}, nil
		case types.Uint64:
			return &Shape{Kind: Uint, Type: t, Bits: 64, Quoted: true}, nil
		}
	}
	return m.Of(t, place)
}
