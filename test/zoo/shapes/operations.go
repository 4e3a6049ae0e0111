package shapes

import aql "github.com/aqltag/aqltag/runtime"

// Zoo returns what it is sent, or Answer where that has the type of the result.
type Zoo struct{ Answer any }

func answer[T any](z *Zoo, in T) T {
	if out, ok := z.Answer.(T); ok {
		return out
	}
	return in
}

// Update is what changes in a value.
type Update[T any] struct {
	Input aql.Patch[T] `json:"input"`
}

// merged merges a patch into Answer, or into nothing.
func merged[T any](z *Zoo, input aql.Patch[T]) (T, error) {
	out, _ := z.Answer.(T)
	err := input.Apply(&out)
	return out, err
}

// EchoBasic returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoBasic(in Basic) (Basic, error) { return answer(z, in), nil }

// UpdateBasic returns what becomes of a Basic.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateBasic(in Update[Basic]) (Basic, error) { return merged(z, in.Input) }

// EchoDeclared returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoDeclared(in Declared) (Declared, error) { return answer(z, in), nil }

// UpdateDeclared returns what becomes of a Declared.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateDeclared(in Update[Declared]) (Declared, error) { return merged(z, in.Input) }

// EchoPointing returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoPointing(in Pointing) (Pointing, error) { return answer(z, in), nil }

// UpdatePointing returns what becomes of a Pointing.
//
//aql:op category=UPDATE
func (z *Zoo) UpdatePointing(in Update[Pointing]) (Pointing, error) { return merged(z, in.Input) }

// EchoListing returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoListing(in Listing) (Listing, error) { return answer(z, in), nil }

// UpdateListing returns what becomes of a Listing.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateListing(in Update[Listing]) (Listing, error) { return merged(z, in.Input) }

// EchoMapping returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoMapping(in Mapping) (Mapping, error) { return answer(z, in), nil }

// UpdateMapping returns what becomes of a Mapping.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateMapping(in Update[Mapping]) (Mapping, error) { return merged(z, in.Input) }

// EchoStructured returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoStructured(in Structured) (Structured, error) { return answer(z, in), nil }

// UpdateStructured returns what becomes of a Structured.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateStructured(in Update[Structured]) (Structured, error) {
	return merged(z, in.Input)
}

// EchoRecursive returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoRecursive(in Recursive) (Recursive, error) { return answer(z, in), nil }

// UpdateRecursive returns what becomes of a Recursive.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateRecursive(in Update[Recursive]) (Recursive, error) { return merged(z, in.Input) }

// EchoGeneric returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoGeneric(in Generic) (Generic, error) { return answer(z, in), nil }

// UpdateGeneric returns what becomes of a Generic.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateGeneric(in Update[Generic]) (Generic, error) { return merged(z, in.Input) }

// EchoStandard returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoStandard(in Standard) (Standard, error) { return answer(z, in), nil }

// UpdateStandard returns what becomes of a Standard.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateStandard(in Update[Standard]) (Standard, error) { return merged(z, in.Input) }

// EchoOptionals returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoOptionals(in Optionals) (Optionals, error) { return answer(z, in), nil }

// UpdateOptionals returns what becomes of a Optionals.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateOptionals(in Update[Optionals]) (Optionals, error) { return merged(z, in.Input) }

// EchoOwn returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoOwn(in Own) (Own, error) { return answer(z, in), nil }

// UpdateOwn returns what becomes of a Own.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateOwn(in Update[Own]) (Own, error) { return merged(z, in.Input) }

// EchoTagged returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoTagged(in Tagged) (Tagged, error) { return answer(z, in), nil }

// UpdateTagged returns what becomes of a Tagged.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateTagged(in Update[Tagged]) (Tagged, error) { return merged(z, in.Input) }

// EchoMessages returns what it is sent.
//
//aql:op category=CREATE
func (z *Zoo) EchoMessages(in Messages) (Messages, error) { return answer(z, in), nil }

// UpdateMessages returns what becomes of a Messages.
//
//aql:op category=UPDATE
func (z *Zoo) UpdateMessages(in Update[Messages]) (Messages, error) { return merged(z, in.Input) }
