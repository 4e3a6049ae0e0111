package wire

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"
)

// What candidates leave out.
const (
	constraints   = "constraints"
	unknownNames  = "unknown names"
	repeatedNames = "repeated names"
	otherCase     = "case"
	brokenUTF8    = "broken UTF-8"
	limits        = "limits"
	required      = "required names"

	anyNames   = unknownNames + ", " + repeatedNames + ", " + otherCase + ", " + brokenUTF8 + ", " + limits
	ofSDK      = repeatedNames + ", " + brokenUTF8 + ", " + limits
	onlyDecode = constraints + ", " + required + ", " + anyNames
	onlySyntax = "everything but syntax"
	onlyUTF8   = "everything but UTF-8"
)

var errInvalid = errors.New("not valid")

func decodeSmall(ctx context.Context) (Group, error) {
	return decode[service.CreateNoteRequest](ctx, "create_note", smallText)
}

func decodeMedium(ctx context.Context) (Group, error) {
	return decode[service.CreateTodoRequest](ctx, "create_todo", MediumRequest)
}

func decodeLarge(ctx context.Context) (Group, error) {
	return decode[service.ImportItemsRequest](ctx, "import_items", largeText())
}

// decode goes from bytes to a validated request struct.
func decode[T any](ctx context.Context, operation, request string) (Group, error) {
	text := []byte(request)
	ours, err := decoder[T](operation)
	if err != nil {
		return Group{}, err
	}
	check, err := newValidator()
	if err != nil {
		return Group{}, err
	}
	if err := pretouch[T](); err != nil {
		return Group{}, err
	}
	sdk, err := newSDK[T](ctx, operation, false)
	if err != nil {
		return Group{}, err
	}
	sdkConstraints, err := newSDK[T](ctx, operation, true)
	if err != nil {
		return Group{}, err
	}
	into := func(unmarshal func(v *T) error) func() (any, error) {
		return func() (any, error) {
			v := new(T)
			return v, unmarshal(v)
		}
	}
	return Group{Candidates: []Candidate{
		{Name: "aql-tag", Run: func() (any, error) { return ours(text) }},
		{Name: "encoding/json + validator", LeavesOut: anyNames, Run: into(func(v *T) error {
			if err := json.Unmarshal(text, v); err != nil {
				return err
			}
			return check.Struct(v)
		})},
		{Name: "MCP SDK AddTool", LeavesOut: constraints + ", " + ofSDK, Run: func() (any, error) { return sdk(text) }},
		{
			Name: "MCP SDK AddTool, our constraints", LeavesOut: ofSDK,
			Run: func() (any, error) { return sdkConstraints(text) },
		},
		{Name: "mcp-go typed handler", LeavesOut: onlyDecode, Run: typedHandler[T](ctx, text)},
		{Name: "json v2 + validator", LeavesOut: limits, Run: into(func(v *T) error {
			if err := jsonv2.Unmarshal(text, v, jsonv2.RejectUnknownMembers(true)); err != nil {
				return err
			}
			return check.Struct(v)
		})},
		{Name: "json v2", LeavesOut: constraints + ", " + required + ", " + limits, Run: into(func(v *T) error {
			return jsonv2.Unmarshal(text, v, jsonv2.RejectUnknownMembers(true))
		})},
		{Name: "encoding/json", LeavesOut: onlyDecode, Run: into(func(v *T) error { return json.Unmarshal(text, v) })},
		{Name: "sonic", LeavesOut: onlyDecode, Run: into(func(v *T) error { return sonic.UnmarshalString(request, v) })},
		{Name: "sonic, copying the request", LeavesOut: onlyDecode, Run: into(func(v *T) error {
			return sonic.Unmarshal(text, v)
		})},
		{Name: "json.Valid", LeavesOut: onlySyntax, Floor: true, Run: func() (any, error) {
			if !json.Valid(text) {
				return nil, errInvalid
			}
			return nil, nil
		}},
		{Name: "utf8.Valid", LeavesOut: onlyUTF8, Floor: true, Run: func() (any, error) {
			if !utf8.Valid(text) {
				return nil, errInvalid
			}
			return nil, nil
		}},
	}}, nil
}

// newValidator returns a validator for the check tags of the service.
func newValidator() (*validator.Validate, error) {
	check := validator.New(validator.WithRequiredStructEnabled())
	check.SetTagName("check")
	slug := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	return check, check.RegisterValidation("slug", func(field validator.FieldLevel) bool {
		return slug.MatchString(field.Field().String())
	})
}
