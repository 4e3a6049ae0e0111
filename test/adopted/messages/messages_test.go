package messages_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/messages"
	"github.com/aqltag/aqltag/test/adopted/services/tickets"
)

func connect(t *testing.T) agent.Agent {
	return agent.Connect(t, messages.NewRegistry(new(tickets.Server)))
}

// A service whose messages have oneofs and well-known types is adopted by one line an operation (B8, B4).
func TestMessagesTravelAsProtojsonWritesThem(t *testing.T) {
	a := connect(t)
	operations := a.Operations()
	agent.HoldLines(t, ".", len(operations))
	if got, want := operations["list_tickets"], "READ since urgencies at_most all"; got != want {
		t.Errorf("list_tickets: got %s, want %s", got, want)
	}
	want := map[string]string{
		"number": "string", "title": "string", "text": "string", "recording": "Recording", "only_urgency": "Urgency",
		"call_back_on": "string", "urgency": "Urgency", "origin": "Ticket_Origin", "opened_on": "string",
		"answer_within": "string", "parts": "array", "settings": "object", "extra": "any", "notes": "array",
		"locked": "string", "nickname": "string", "parent": "string", "sla_url": "string", "rating": "integer",
	}
	fields := a.Fields("Ticket")
	for name, kind := range want {
		if fields[name] != kind {
			t.Errorf("field %s: got %q, want %q", name, fields[name], kind)
		}
	}

	a.Want("create", "create_ticket", `{"title":"broken","recording":{"url":"x","length":"90s"},"urgency":"URGENCY_HIGH",
		"opened_on":"2026-03-01T10:00:00+01:00","callBackOn":null,"customers":["18446744073709551615"],"parent":"-1",
		"related":{"b":{"text":"other"}},"sla_url":"y","locked":"title,openedOn","settings":{"a":[1,null]}}`,
		`{"number":"9007199254740993","title":"broken","recording":{"url":"x","length":"90s"},"urgency":"URGENCY_HIGH",
		"opened_on":"2026-03-01T09:00:00Z","customers":["18446744073709551615"],"parent":"-1",
		"related":{"b":{"text":"other"}},"sla_url":"y","locked":"title,openedOn","settings":{"a":[1,null]}}`)
	a.Want("read", "get_ticket", `{"number":"9007199254740993"}`, string(mustJSON(t,
		a.Data("read", "get_ticket", `{"number":"9007199254740993"}`))))
	a.Want("read", "list_tickets", `{"since":"2026-03-02T00:00:00Z","all":true}`, `{}`)
	a.Want("execute", "close_tickets", `{}`, `{}`)
	a.Refused("read", "get_ticket", `{"number":"9007199254740993"}`, "NOT_FOUND_RESOURCE")
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What protojson refuses is refused with a code and a place, and never with Go text (B8, T-29, REQ-UK-09).
func TestRefusals(t *testing.T) {
	a := connect(t)
	for _, c := range []struct{ name, params, code, place string }{
		{"an unknown name", `{"titel":"x"}`, "VALIDATION_UNKNOWN_PARAM", ""},
		{"an unknown name within", `{"recording":{"uri":"x"}}`, "VALIDATION_UNKNOWN_FIELD", "recording"},
		{"two members of a oneof", `{"text":"x","scan":"aGk="}`, "VALIDATION_DUPLICATE_PARAM", "scan"},
		{"two members of a oneof within", `{"parts":[{"scan":"aGk=","onlyUrgency":"URGENCY_LOW"}]}`,
			"VALIDATION_DUPLICATE_PARAM", "parts[0].onlyUrgency"},
		{"two names of a field", `{"opened_on":"2026-03-01T09:00:00Z","openedOn":"2026-03-01T09:00:00Z"}`,
			"VALIDATION_DUPLICATE_PARAM", "opened_on"},
		{"an unknown name of an enum", `{"urgency":"HIGH"}`, "VALIDATION_INVALID_ENUM", "urgency"},
		{"a number of an enum", `{"urgency":2}`, "VALIDATION_INVALID_TYPE", "urgency"},
		{"a number beyond 64 bits", `{"number":"9223372036854775808"}`, "VALIDATION_OUT_OF_RANGE", "number"},
		{"a number beyond 32 bits", `{"rating":2147483648}`, "VALIDATION_OUT_OF_RANGE", "rating"},
		{"a time in the year 0", `{"opened_on":"0000-03-01T09:00:00Z"}`, "VALIDATION_INVALID_TYPE", "opened_on"},
		{"a time of no day", `{"milestones":{"a":"2026-02-30T09:00:00Z"}}`, "VALIDATION_INVALID_TYPE", "milestones.a"},
		{"a duration without a unit", `{"answer_within":"90"}`, "VALIDATION_PATTERN_MISMATCH", "answer_within"},
		{"a path in snake_case", `{"locked":"opened_on"}`, "VALIDATION_PATTERN_MISMATCH", "locked"},
		{"null in a list", `{"parts":[null]}`, "VALIDATION_INVALID_TYPE", "parts[0]"},
		{"null in a map", `{"related":{"a":null}}`, "VALIDATION_INVALID_TYPE", "related.a"},
		{"a message that nothing knows", `{"source":{"@type":"type.googleapis.com/no.Such"}}`, "VALIDATION_INVALID_TYPE",
			"source"},
		{"text that is no base64", `{"signature":"?"}`, "VALIDATION_INVALID_TYPE", "signature"},
		{"a name of an entry that is no integer", `{"pages":{"one":"x"}}`, "VALIDATION_INVALID_TYPE", "pages.one"},
		{"a message too deep", strings.Repeat(`{"parts":[`, 200) + strings.Repeat(`]}`, 200), "VALIDATION_PAYLOAD_TOO_LARGE",
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			details := a.Refused("read", "preview_ticket", c.params, c.code)
			if place, _ := details["param_name"].(string); place != c.place && c.place != "" {
				t.Errorf("it is about %q, want %q: %v", place, c.place, details)
			}
			if text := fmt.Sprint(details); strings.Contains(text, "line 1") || strings.Contains(text, "protobuf:") {
				t.Errorf("it tells how it was read: %s", text)
			}
		})
	}
}

// Whatever a message says, agents get what protojson writes of it and may send it back (B8, REQ-IN-03).
func TestRandomMessagesGoBothWays(t *testing.T) {
	a := connect(t)
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		ticket := &tickets.Ticket{}
		fill(r, ticket.ProtoReflect(), 3)
		written, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(ticket)
		if err != nil {
			t.Fatal(err)
		}
		request := strings.ReplaceAll(string(written), `"sla_URL"`, `"sla_url"`)
		got := mustJSON(t, a.Data("read", "preview_ticket", request))
		back := &tickets.Ticket{}
		if err := protojson.Unmarshal(withoutConstants(t, got), back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if !proto.Equal(ticket, back) {
			t.Fatalf("sent and got (-want +got):\n%s", cmp.Diff(protojson.Format(ticket), protojson.Format(back)))
		}
		a.Check("what was got, sent", a.Data("read", "preview_ticket", string(got)), string(got))
	}
}

// withoutConstants removes what the adapter says of binary data, and restores the one name that it changes.
func withoutConstants(t *testing.T, text []byte) []byte {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	var clean func(value any)
	clean = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, element := range value {
				clean(element)
			}
		case map[string]any:
			for name, member := range value {
				if strings.HasSuffix(name, "_encoding") || strings.HasSuffix(name, "_mime_type") {
					delete(value, name)
				}
				clean(member)
			}
			if url, ok := value["sla_url"]; ok {
				delete(value, "sla_url")
				value["sla_URL"] = url
			}
		}
	}
	clean(value)
	return mustJSON(t, value)
}

// fill gives a message random fields, deep no deeper.
func fill(r *rand.Rand, m protoreflect.Message, deep int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if r.IntN(4) > 0 || f.Message() != nil && deep == 0 {
			continue
		}
		switch {
		case f.IsList():
			for list := m.Mutable(f).List(); list.Len() < 2; {
				list.Append(value(r, f, list.NewElement(), deep))
			}
		case f.IsMap():
			entries := m.Mutable(f).Map()
			key := value(r, f.MapKey(), protoreflect.Value{}, deep).MapKey()
			entries.Set(key, value(r, f.MapValue(), entries.NewValue(), deep))
		default:
			m.Set(f, value(r, f, m.NewField(f), deep))
		}
	}
}

// value returns a random value of a field. zero is an empty one.
func value(r *rand.Rand, f protoreflect.FieldDescriptor, zero protoreflect.Value, deep int) protoreflect.Value {
	texts := []string{"", "x", "Zoë \u2028 <&>", `"\`}
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(r.IntN(values.Len())).Number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(r.Uint32()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(r.Uint32())
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(r.Uint64()))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(r.Uint64())
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(r.Float32())
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(r.NormFloat64() * 1e100)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(texts[r.IntN(len(texts))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(texts[r.IntN(len(texts))]))
	}
	if known := wellKnown(r, f.Message().Name()); known != nil {
		return protoreflect.ValueOfMessage(known.ProtoReflect())
	}
	fill(r, zero.Message(), deep-1)
	return zero
}

// wellKnown returns a random message of a type that has a JSON of its own; nil: it has none.
func wellKnown(r *rand.Rand, name protoreflect.Name) proto.Message {
	values := []*structpb.Value{
		structpb.NewNullValue(), structpb.NewNumberValue(1.5), structpb.NewStringValue("x"), structpb.NewBoolValue(true),
		structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"@type": structpb.NewNullValue()}}),
	}
	value := values[r.IntN(len(values))]
	switch name {
	case "Timestamp":
		return &timestamppb.Timestamp{Seconds: r.Int64N(200000000000), Nanos: r.Int32N(2) * 100}
	case "Duration":
		return &durationpb.Duration{Seconds: -r.Int64N(1 << 30), Nanos: -r.Int32N(2)}
	case "Struct":
		return &structpb.Struct{Fields: map[string]*structpb.Value{"a": value}}
	case "Value":
		return values[1+r.IntN(len(values)-1)] // null is absence
	case "ListValue":
		return &structpb.ListValue{Values: []*structpb.Value{value, value}}
	case "FieldMask":
		return &fieldmaskpb.FieldMask{Paths: []string{"opened_on", "recording.url"}}
	case "Any":
		made, err := anypb.New([]proto.Message{&tickets.Recording{Url: "x"}, durationpb.New(1e9)}[r.IntN(2)])
		if err != nil {
			panic(err)
		}
		return made
	}
	return nil
}
