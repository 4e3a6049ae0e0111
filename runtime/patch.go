package aql

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/wire"
)

// Patch is the input of an UPDATE operation: a JSON Merge Patch (RFC 7396) for a resource T. Members that are absent leave
// the resource as it is, objects merge at every depth, arrays replace, null removes (MCP-AQL core §4.5). A handler that
// receives a Patch receives one that was validated against T: types, constraints, unknown and read-only fields.
type Patch[T any] struct {
	raw   string
	merge func(r *wire.Reader, v *T)
}

// ReadPatch reads the value at which r stands as a patch. It validates the value by merging it onto a zero T, so that
// what Apply will do later has been done once before the handler runs. Generated code calls it.
func ReadPatch[T any](r *wire.Reader, p *Patch[T], merge func(r *wire.Reader, v *T)) {
	var scratch T
	start := r.Offset()
	merge(r, &scratch)
	if r.OK() {
		p.raw, p.merge = strings.TrimSpace(r.Text(start, r.Offset())), merge
	}
}

// errNoPatch is returned for a Patch that no request brought.
var errNoPatch = errors.New("aql: the patch was not read from a request")

// Apply merges the patch into v. On error v is unchanged.
func (p *Patch[T]) Apply(v *T) error {
	if p.merge == nil {
		return errNoPatch
	}
	r := wire.NewReader(p.raw, wire.Limits{})
	r.SetPath("input")
	p.merge(r, v)
	if !r.OK() {
		return fmt.Errorf("aql: merging a patch that was valid when it was read: %v", r.Problems())
	}
	return nil
}

// JSON returns the patch as it was sent.
func (p *Patch[T]) JSON() []byte { return []byte(p.raw) }

// Has reports whether the patch says something about the field with this wire path, such as "title" or
// "metadata.labels": a value, null, or a change further inside.
func (p *Patch[T]) Has(path string) bool {
	for _, changed := range p.Paths() {
		if changed == path || strings.HasPrefix(changed, path) && changed[len(path)] == '.' {
			return true
		}
	}
	return false
}

// Paths lists the wire paths of the fields that the patch changes, sorted. An object stands for the fields inside it; an
// empty object for itself.
func (p *Patch[T]) Paths() []string {
	if p.raw == "" {
		return nil
	}
	r := wire.NewReader(p.raw, wire.Limits{})
	var paths []string
	collectPaths(r, "", &paths)
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
