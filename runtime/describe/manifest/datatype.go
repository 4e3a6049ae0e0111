package manifest

import (
	"math"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// datatype is the name of a SimpleModeling primitive. The names are those of XML Schema without a prefix. A datatype is
// a label and does not determine how a value is written or checked (MCP-AQL get_manifest, Datatype Representation).
type datatype string

// The datatypes of parameters.
const (
	text               datatype = "string"
	boolean            datatype = "boolean"
	integer            datatype = "integer"
	nonNegativeInteger datatype = "nonNegativeInteger"
	positiveInteger    datatype = "positiveInteger"
	single             datatype = "float"
	double             datatype = "double"
	dateTime           datatype = "dateTime"
	date               datatype = "date"
	binary             datatype = "base64Binary"
	anything           datatype = "anyType"
)

// minimum returns the lower bound that a datatype implies; empty: none.
func (d datatype) minimum() string {
	switch d {
	case nonNegativeInteger:
		return "0"
	case positiveInteger:
		return "1"
	default:
		return ""
	}
}

// datatypeOf returns the datatype of a parameter and whether it takes several values. The datatype of a list is that of
// its elements; elements of a list of lists are of any type, because a manifest has no deeper structure.
func datatypeOf(a *gen.Definitions, p *gen.Param) (named datatype, multiple bool) {
	if p.Type != "array" {
		return unionOf(a, p)
	}
	if p.Items == nil {
		return anything, true
	}
	named, nested := datatypeOf(a, p.Items)
	if nested {
		return anything, true
	}
	return named, true
}

// unionOf returns the datatype that all alternatives of a type such as "string | string[]" have, or anyType if they
// differ.
func unionOf(a *gen.Definitions, p *gen.Param) (named datatype, multiple bool) {
	for i, alternative := range strings.Split(p.Type, " | ") {
		element, list := strings.CutSuffix(alternative, "[]")
		multiple = multiple || list
		one := *p
		one.Type = element
		switch other := valueOf(a, &one); {
		case i == 0:
			named = other
		case other != named:
			named = anything
		}
	}
	return named, multiple
}

// valueOf returns the datatype of a single value.
func valueOf(a *gen.Definitions, p *gen.Param) datatype {
	switch p.Type {
	case "string":
		switch p.Format {
		case "date-time":
			return dateTime
		case "date":
			return date
		case "byte":
			return binary
		}
		return text
	case "boolean":
		return boolean
	case "integer":
		return integerOf(p.Minimum)
	case "number":
		if p.Format == "float" {
			return single
		}
		return double
	}
	if t, known := a.Type(p.Type); known && t.Kind == gen.KindEnum {
		return text
	}
	return anything
}

// integerOf returns the datatype of an integer with a lower bound; empty: none.
func integerOf(minimum string) datatype {
	bound, err := strconv.ParseFloat(minimum, 64)
	switch {
	case err != nil:
		return integer
	case math.Ceil(bound) >= 1:
		return positiveInteger
	case math.Ceil(bound) >= 0:
		return nonNegativeInteger
	default:
		return integer
	}
}
