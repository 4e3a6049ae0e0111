package shapes

import (
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/aqltag/aqltag/test/zoo/messages"
)

// Messages has messages of protocol buffers.
type Messages struct {
	Whole       *messages.Whole                   `json:"whole,omitempty"`
	Part        *messages.Part                    `json:"part"`
	Parts       []*messages.Part                  `json:"parts,omitempty"`
	Named       map[string]*messages.Part         `json:"named,omitempty"`
	Time        *timestamppb.Timestamp            `json:"time,omitempty"`
	Span        *durationpb.Duration              `json:"span"`
	Free        *structpb.Struct                  `json:"free,omitempty"`
	Value       *structpb.Value                   `json:"value,omitempty"`
	List        *structpb.ListValue               `json:"list,omitempty"`
	Mask        *fieldmaskpb.FieldMask            `json:"mask,omitempty"`
	None        *emptypb.Empty                    `json:"none,omitempty"`
	Wide        *wrapperspb.Int64Value            `json:"wide,omitempty"`
	Text        *wrapperspb.StringValue           `json:"text,omitempty"`
	TimesByName map[string]*timestamppb.Timestamp `json:"times_by_name,omitempty"`
	Spans       []*durationpb.Duration            `json:"spans,omitempty"`
}
