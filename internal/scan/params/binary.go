package params

import (
	"fmt"
	"go/types"
	"mime"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// defaultMediaType is the media type of binary data of which nothing is known.
const defaultMediaType = "application/octet-stream"

// AddConstants adds, behind each field of a struct with binary data, the members that say how the data is encoded and
// what its media type is (MCP-AQL core §4.7.4). It replaces those that it has added before.
func (m *Maker) AddConstants(structure *shapes.Shape) {
	plain := slices.DeleteFunc(structure.Fields, func(f shapes.Field) bool { return f.Param.Constant != "" })
	if !slices.ContainsFunc(plain, func(f shapes.Field) bool { return isBinary(f.Shape) }) {
		structure.Fields = plain
		return
	}
	taken := make(map[string]*shapes.Field, len(plain))
	for i := range plain {
		taken[plain[i].Param.Name] = &plain[i]
		for _, alias := range plain[i].Param.Aliases {
			taken[alias] = &plain[i]
		}
	}
	fields := make([]shapes.Field, 0, len(plain)+2)
	for _, field := range plain {
		fields = append(fields, field)
		if !isBinary(field.Shape) {
			continue
		}
		stem := strings.TrimSuffix(field.Param.Name, "_content")
		if own := taken[stem+"_encoding"]; own == nil {
			constant := constantOf(field, stem+"_encoding", "base64", "Encoding of "+field.Param.Name)
			taken[stem+"_encoding"], fields = &constant, append(fields, constant)
		} else if own.Param.Constant == "" {
			m.reportReserved(own, field.Param.Name, "how it is encoded")
		}
		mediaType, tagged := m.mediaType(field)
		own := taken[stem+"_mime_type"]
		switch {
		case own == nil:
			constant := constantOf(field, stem+"_mime_type", mediaType, "Media type of "+field.Param.Name)
			taken[stem+"_mime_type"], fields = &constant, append(fields, constant)
		case own.Param.Constant != "" && own.Param.Constant != mediaType, own.Param.Constant == "" && tagged:
			m.Report(field.Tag.At, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: field.Path, Actual: mediaType,
				Message: fmt.Sprintf("the media type of %s is %s, but %s says what it is", field.Param.Name, mediaType,
					own.Path),
				Suggestion: "remove mime, or rename one of the two fields",
				Related:    []diag.Related{m.Related(own.Var.Pos(), own.Path+" is here")},
			})
		case own.Param.Constant == "" && shapes.JSONKind(shapes.Indirect(own.Shape)) != "string":
			m.reportReserved(own, field.Param.Name, "its media type")
		}
	}
	structure.Fields = fields
}

// isBinary reports whether a shape is binary data, or a list or map of such.
func isBinary(shape *shapes.Shape) bool {
	shape = leaf(shape)
	return shape != nil && shape.Kind == shapes.Bytes
}

// constantOf returns the field of a constant that describes another field. It is shown, written and left out with it.
func constantOf(of shapes.Field, name, value, description string) shapes.Field {
	tag := tags.Tag{GoName: of.Tag.GoName, Name: name, At: of.Tag.At, NameAt: of.Tag.NameAt}
	return shapes.Field{
		Declaration: shapes.Declaration{Path: of.Path, Through: of.Through, Tag: tag, Var: of.Var},
		Selector:    of.Selector, Position: of.Position,
		Shape: &shapes.Shape{Kind: shapes.String, Type: types.Typ[types.String]},
		Param: gen.Param{
			Name: name, Go: of.Param.Go, Type: "string", Description: description, Constant: value, Enum: []string{value},
			Sensitive: of.Param.Sensitive, ReadOnly: of.Param.ReadOnly, AppendOnly: of.Param.AppendOnly,
			Presets:   of.Param.Presets,
			OmitEmpty: of.Param.OmitEmpty, OmitZero: of.Param.OmitZero,
		},
	}
}

// mediaType returns the media type of a field with binary data, and whether its tag says it.
func (m *Maker) mediaType(field shapes.Field) (mediaType string, tagged bool) {
	item, ok := field.Tag.Item("mime")
	if !ok {
		return defaultMediaType, false
	}
	if parsed, _, err := mime.ParseMediaType(item.Value); err != nil || !strings.Contains(parsed, "/") {
		m.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: field.Path, Actual: item.Value,
			Message: fmt.Sprintf("mime needs a media type, not %q", item.Value), Suggestion: "write it like image/png",
		})
		return defaultMediaType, false
	}
	return item.Value, true
}

// reportReserved reports a field whose name says something of the binary data beside it, which agents take its value
// for.
func (m *Maker) reportReserved(own *shapes.Field, binary, what string) {
	if !m.Editable(own.Var.Pkg()) {
		return
	}
	m.Report(own.Tag.NameAt, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeName, FieldPath: own.Path, Actual: own.Param.Name,
		Message:    fmt.Sprintf("beside %s, agents take %s for %s (MCP-AQL core §4.7.4)", binary, own.Param.Name, what),
		Suggestion: "give it another name",
	})
}
