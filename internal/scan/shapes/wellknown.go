package shapes

import (
	"go/types"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// wellKnownPath begins the import paths of the well-known types of protocol buffers.
const wellKnownPath = "google.golang.org/protobuf/types/known/"

// wellKnown is how protojson writes and reads a well-known type.
type wellKnown struct {
	kind   Kind
	bits   int
	quoted bool
	own    *gen.Param
}

// wellKnownTypes are those whose JSON is not an object with their fields. An Empty is one.
var wellKnownTypes = map[string]wellKnown{
	"timestamppb.Timestamp": {kind: Time},
	"durationpb.Duration": {kind: JSON, own: &gen.Param{
		Type: "string", Pattern: `^-?(0|[1-9][0-9]{0,10}|[12][0-9]{11})([.][0-9]{1,9})?s$`,
		Description: "A number of seconds, such as 90s or 0.5s.",
	}},
	"fieldmaskpb.FieldMask": {kind: JSON, own: &gen.Param{
		Type: "string", Pattern: `^([A-Za-z][A-Za-z0-9]*([.,][A-Za-z][A-Za-z0-9]*)*)?$`,
		Description: "Paths of fields with commas between them, in camelCase, such as title,dueOn.",
	}},
	"structpb.Struct":    {kind: Map},
	"structpb.Value":     {kind: Any},
	"structpb.ListValue": {kind: Slice},
	"anypb.Any": {kind: Map, own: &gen.Param{
		Type:        "object",
		Description: "A message of a type that the service knows. The member @type names it; the others are its fields.",
	}},
	"wrapperspb.BoolValue":   {kind: Bool},
	"wrapperspb.BytesValue":  {kind: Bytes},
	"wrapperspb.DoubleValue": {kind: Float, bits: 64},
	"wrapperspb.FloatValue":  {kind: Float, bits: 32},
	"wrapperspb.Int32Value":  {kind: Int, bits: 32},
	"wrapperspb.Int64Value":  {kind: Int, bits: 64, quoted: true},
	"wrapperspb.StringValue": {kind: String},
	"wrapperspb.UInt32Value": {kind: Uint, bits: 32},
	"wrapperspb.UInt64Value": {kind: Uint, bits: 64, quoted: true},
}

// fillWellKnown makes the shape of a well-known type. It returns false for other messages.
func (m *Maker) fillWellKnown(out *Shape) bool {
	folder, ok := strings.CutPrefix(out.Go.PkgPath, wellKnownPath)
	known, found := wellKnownTypes[folder+"."+out.Go.Name]
	if !ok || !found {
		return false
	}
	out.Kind, out.Bits, out.Quoted, out.Own = known.kind, known.bits, known.quoted, known.own
	value := &Shape{Kind: Any, Type: types.NewInterfaceType(nil, nil)}
	switch out.Kind {
	case Map:
		out.Key, out.Elem = &Shape{Kind: String, Type: types.Typ[types.String]}, value
	case Slice:
		out.Elem = value
	}
	return true
}
