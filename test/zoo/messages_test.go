package zoo_test

import (
	"math/rand/v2"
	"reflect"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/aqltag/aqltag/test/zoo/messages"
)

func init() {
	moments := []time.Time{time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC)}
	pointers(func(r *rand.Rand) *timestamppb.Timestamp { return timestamppb.New(moments[r.IntN(len(moments))]) })
	spans := []time.Duration{0, -time.Nanosecond, 90 * time.Minute, 1500 * time.Millisecond}
	pointers(func(r *rand.Rand) *durationpb.Duration { return durationpb.New(spans[r.IntN(len(spans))]) })
	pointers(func(*rand.Rand) *emptypb.Empty { return &emptypb.Empty{} })
	masks := [][]string{nil, {"title"}, {"due_on", "owner.last_name"}}
	pointers(func(r *rand.Rand) *fieldmaskpb.FieldMask {
		return &fieldmaskpb.FieldMask{Paths: masks[r.IntN(len(masks))]}
	})
	values := []any{"x", 1.5, true, []any{nil, "y"}, map[string]any{"k": nil, "l": map[string]any{"m": 1.0}}}
	value := func(r *rand.Rand) *structpb.Value {
		made, err := structpb.NewValue(values[r.IntN(len(values))])
		if err != nil {
			panic(err)
		}
		return made
	}
	samples[reflect.TypeFor[*structpb.Value]()] = func(r *rand.Rand) any { return value(r) } // a list has no nil ones
	pointers(func(r *rand.Rand) *structpb.ListValue {
		return &structpb.ListValue{Values: []*structpb.Value{value(r)}}
	})
	pointers(func(r *rand.Rand) *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"a": value(r), "": value(r)}}
	})
	sample(messages.Size_SIZE_UNSPECIFIED, messages.Size_SIZE_SMALL, messages.Size_SIZE_LARGE)
}

// pointers makes values of a message, and nil.
func pointers[T any](value func(r *rand.Rand) *T) {
	samples[reflect.TypeFor[*T]()] = func(r *rand.Rand) any {
		if r.IntN(4) == 0 {
			return (*T)(nil)
		}
		return value(r)
	}
}

// members are those of the oneofs.
var members = []any{
	messages.Whole_FirstText{}, messages.Whole_FirstNumber{}, messages.Whole_FirstPart{}, messages.Whole_FirstTime{},
	messages.Whole_FirstValue{}, messages.Whole_SecondBool{}, messages.Whole_SecondBytes{},
}

// fillChoice gives a oneof one of its members, or none.
func fillChoice(r *rand.Rand, v reflect.Value, deep int) {
	for range r.IntN(3) {
		member := reflect.New(reflect.TypeOf(members[r.IntN(len(members))]))
		if fill(r, member.Elem(), deep); member.Type().Implements(v.Type()) && !hollow(member.Elem().Field(0)) {
			v.Set(member)
		}
	}
}

// hollow reports whether the member of a oneof is a message that is nil, which no JSON says.
func hollow(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }
