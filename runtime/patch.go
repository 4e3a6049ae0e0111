package aql

import (
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Patch is the input of an UPDATE operation: a JSON Merge Patch (RFC 7396) for a resource T. Members that are absent
// leave the resource as it is, objects merge at every depth, arrays replace, null removes (MCP-AQL core §4.5). A
// handler that receives a Patch receives one that was validated against T: types, constraints, unknown and read-only
// fields.
type Patch[T any] struct {
	_    [0]*T // the codec finds T here; it is a pointer because T may hold a lock, which vet would find in a copied patch
	body codec.Patch
}

// errNoPatch is the error of a Patch that did not come with a request.
var errNoPatch = errors.New("aql: the patch was not read from a request")

// Apply merges the patch into v. What v lacks and the patch creates, such as an entry of a map or what a nil pointer
// points to, has to be whole, as in a request that creates it. On error v is unchanged. The error is an *Error with one
// of the codes of validation, which a handler returns as it is or wrapped: the agent learns which field is wrong
// (MCP-AQL core §4.5.3).
func (p *Patch[T]) Apply(v *T) error {
	if p.body.Raw() == "" {
		return errNoPatch
	}
	if p.body.Merge(unsafe.Pointer(v)) {
		return nil
	}
	r := wire.NewReader(p.body.Raw(), wire.Limits{})
	r.SetPath("input")
	if !p.body.MergeFrom(r, unsafe.Pointer(v)) {
		return misfit(r.Problems())
	}
	return nil
}

// Merged returns a copy of v with the patch applied, and leaves v as it is. A nil v is a resource that does not exist.
// Generated code calls it for updates whose handler takes a whole resource (//aql:update).
func (p *Patch[T]) Merged(v *T) (*T, error) {
	if v == nil {
		return nil, failure(CodeResourceNotFound, "Resource not found")
	}
	whole := *v
	if err := p.Apply(&whole); err != nil {
		return nil, err
	}
	return &whole, nil
}

// misfit is the failure of a patch that does not fit its resource. Which operation it is of, and what of it may be
// shown, only the adapter knows; see reporter.
func misfit(problems []wire.Problem) *Error {
	bare := slices.Clone(problems)
	for i := range bare {
		bare[i].Value = ""
	}
	f := (&invalid{operation: &operation{}, problems: bare}).failure()
	f.problems = problems
	return f
}

// JSON returns the text of the patch, as the request has it.
func (p *Patch[T]) JSON() []byte { return []byte(p.body.Raw()) }

// Has reports whether the patch changes the field with this wire path, such as "title" or "metadata.labels", or
// something in it.
func (p *Patch[T]) Has(path string) bool {
	for _, changed := range p.Paths() {
		if changed == path || strings.HasPrefix(changed, path) && changed[len(path)] == '.' {
			return true
		}
	}
	return false
}

// Paths returns the wire paths of the fields that the patch changes, sorted. In place of an object there are the fields
// in it, unless it is empty. The members that say how binary data is encoded are not fields of T, and left out.
func (p *Patch[T]) Paths() []string {
	if p.body.Raw() == "" {
		return nil
	}
	r := wire.NewReader(p.body.Raw(), wire.Limits{})
	var paths []string
	collectPaths(r, "", &paths)
	paths = slices.DeleteFunc(paths, p.body.IsConstant)
	slices.Sort(paths)
	return paths
}

func collectPaths(r *wire.Reader, prefix string, paths *[]string) {
	if r.Kind() != "object" {
		r.Skip()
		*paths = append(*paths, prefix)
		return
	}
	empty := true
	if r.Object() {
		for r.Next() {
			empty = false
			path := r.Name()
			if prefix != "" {
				path = prefix + "." + path
			}
			collectPaths(r, path, paths)
		}
	}
	if empty && prefix != "" {
		*paths = append(*paths, prefix)
	}
}
