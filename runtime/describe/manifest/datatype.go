package manifest

import (
	"math"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// datatype is the name of a SimpleModeling primitive, which are called as in XML Schema, without a prefix. It is a label: nobody
// may conclude from it how a value is written or checked (get_manifest, Datatype Representation).
type datatype string

// The datatypes that definitions lead to (requirements T-78).
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

// minimum is the lower bound that a datatype tells itself; empty: none.
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

// datatypeOf is the datatype of a parameter, and whether it takes several values: a list is its elements. A list of lists is
// several of anything, since a manifest has no deeper structure.
func datatypeOf(a *gen.Adapter, p *gen.Param) (named datatype, multiple bool) {
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

// unionOf is the datatype of a value that is no list, or of one with alternatives such as "string | string[]": the one that
// all of them have.
func unionOf(a *gen.Adapter, p *gen.Param) (named datatype, multiple bool) {
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

// valueOf is the datatype of a single value.
func valueOf(a *gen.Adapter, p *gen.Param) datatype {
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

// integerOf is the datatype of an integer with a lower bound; empty: none.
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
