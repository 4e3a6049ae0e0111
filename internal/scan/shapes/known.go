package shapes

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// versionless matches what import paths have for the major version of a module.
var versionless = regexp.MustCompile(`/v[0-9]+(/|$)|\.v[0-9]+$`)

// Texts of several of the forms.
const (
	decimalPattern  = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`
	objectIDPattern = `^[0-9a-fA-F]{24}$`
	localTimeText   = "A date and time without a zone, such as 2026-01-02T15:04:05."
)

// Forms of several of the types.
var (
	dateTime     = gen.Param{Format: "date-time"}
	date         = gen.Param{Format: "date"}
	uuid         = gen.Param{Format: "uuid"}
	nullTime     = gen.Param{Format: "date-time", Nullable: true}
	nullDate     = gen.Param{Format: "date", Nullable: true}
	nullUUID     = gen.Param{Format: "uuid", Nullable: true}
	nullText     = gen.Param{Nullable: true}
	nullBool     = gen.Param{Type: "boolean", Nullable: true}
	nullNumber   = gen.Param{Type: "number", Nullable: true}
	nullInt      = gen.Param{Type: "integer", Nullable: true}
	nullInt16    = gen.Param{Type: "integer", Nullable: true, Minimum: "-32768", Maximum: "32767"}
	nullInt32    = gen.Param{Type: "integer", Nullable: true, Minimum: "-2147483648", Maximum: "2147483647"}
	nullUint     = gen.Param{Type: "integer", Nullable: true, Minimum: "0"}
	decimal      = gen.Param{Pattern: decimalPattern, Description: "A decimal number, as a string."}
	nullDecimal  = gen.Param{Pattern: decimalPattern, Description: "A decimal number, as a string.", Nullable: true}
	duration     = gen.Param{Description: "A duration such as 1h30m."}
	objectID     = gen.Param{Pattern: objectIDPattern, Description: "An identifier of 24 hexadecimal digits."}
	version      = gen.Param{Description: "A semantic version such as 1.2.3."}
	intOrString  = gen.Param{Type: "any", Format: "int-or-string", Description: "An integer, or a text such as 25%."}
	localTime    = gen.Param{Description: localTimeText}
	nullLocal    = gen.Param{Description: localTimeText, Nullable: true}
	microseconds = gen.Param{
		Format: "date-time", Pattern: `\.[0-9]{6}(Z|[+-])`, Description: "With six digits of a second.", Nullable: true,
	}
)

// knownForms are the forms of types of other modules that write and read themselves, by import path without major
// version and by name. Their type is string where none is said.
var knownForms = map[string]gen.Param{
	"math/big.Int":                   {Type: "integer", Format: gen.FormatBigInt, Description: "An integer of any size."},
	"cloud.google.com/go/civil.Date": date, "cloud.google.com/go/civil.DateTime": localTime,
	"cloud.google.com/go/civil.Time":                      {Description: "A time of day such as 15:04:05."},
	"github.com/Masterminds/semver.Version":               version,
	"github.com/gofrs/uuid.NullUUID":                      nullUUID,
	"github.com/google/uuid.NullUUID":                     nullUUID,
	"github.com/shopspring/decimal.Decimal":               decimal,
	"github.com/shopspring/decimal.NullDecimal":           nullDecimal,
	"gorm.io/gorm.DeletedAt":                              nullTime,
	"go.mongodb.org/mongo-driver/bson.ObjectID":           objectID,
	"go.mongodb.org/mongo-driver/bson/primitive.ObjectID": objectID,

	"github.com/go-openapi/strfmt.Date":           date,
	"github.com/go-openapi/strfmt.DateTime":       dateTime,
	"github.com/go-openapi/strfmt.Duration":       duration,
	"github.com/go-openapi/strfmt.Email":          {Format: "email"},
	"github.com/go-openapi/strfmt.Hostname":       {Format: "hostname"},
	"github.com/go-openapi/strfmt.IPv4":           {Format: "ipv4"},
	"github.com/go-openapi/strfmt.IPv6":           {Format: "ipv6"},
	"github.com/go-openapi/strfmt.URI":            {Format: "uri"},
	"github.com/go-openapi/strfmt.UUID":           uuid,
	"github.com/oapi-codegen/runtime/types.Date":  date,
	"github.com/oapi-codegen/runtime/types.Email": {Format: "email"},

	"github.com/jackc/pgx/pgtype.Bool":        nullBool,
	"github.com/jackc/pgx/pgtype.Date":        nullDate,
	"github.com/jackc/pgx/pgtype.Float4":      nullNumber,
	"github.com/jackc/pgx/pgtype.Float8":      nullNumber,
	"github.com/jackc/pgx/pgtype.Int2":        nullInt16,
	"github.com/jackc/pgx/pgtype.Int4":        nullInt32,
	"github.com/jackc/pgx/pgtype.Int8":        nullInt,
	"github.com/jackc/pgx/pgtype.Numeric":     nullNumber,
	"github.com/jackc/pgx/pgtype.Text":        nullText,
	"github.com/jackc/pgx/pgtype.Timestamp":   nullLocal,
	"github.com/jackc/pgx/pgtype.Timestamptz": nullTime,
	"github.com/jackc/pgx/pgtype.Uint32":      nullUint,
	"github.com/jackc/pgx/pgtype.UUID":        nullUUID,

	"k8s.io/apimachinery/pkg/api/resource.Quantity":   {Description: "A quantity such as 500m, 1.5Gi or 3."},
	"k8s.io/apimachinery/pkg/apis/meta.Duration":      duration,
	"k8s.io/apimachinery/pkg/apis/meta.MicroTime":     microseconds,
	"k8s.io/apimachinery/pkg/apis/meta.Time":          nullTime,
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": intOrString,
}

// nullModules are modules with types that put null into JSON, which have the same names.
var nullModules = []string{
	"github.com/guregu/null", "gopkg.in/guregu/null", "github.com/volatiletech/null", "github.com/aarondl/null",
}

var nullForms = map[string]gen.Param{
	"Bool": nullBool, "Float": nullNumber, "Float32": nullNumber, "Float64": nullNumber, "Int": nullInt,
	"Int16": nullInt16, "Int32": nullInt32, "Int64": nullInt, "String": nullText, "Time": nullTime,
	"Uint": nullUint, "Uint32": nullUint, "Uint64": nullUint,
}

// knownForm returns the form of a type that is in the tables.
func knownForm(path, name string) (form gen.Param, ok bool) {
	path = versionless.ReplaceAllString(path, "$1")
	if slices.Contains(nullModules, path) {
		form, ok = nullForms[name]
	} else {
		form, ok = knownForms[path+"."+name]
	}
	form.Type = cmp.Or(form.Type, "string")
	return form, ok
}
