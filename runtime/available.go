package aql

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Available is which operations of a registry an adapter has. The others are switched off: no tool, introspection,
// manifest or message names them, and a request for one is answered like one for an operation that does not exist.
type Available struct {
	// ReadOnly leaves the operations of the category READ.
	ReadOnly bool
	// NoDestructive leaves the operations below the danger level destructive. An operation of the category DELETE or
	// EXECUTE must have its level from its author: the level that its category has is not enough.
	NoDestructive bool
	// Operations are patterns of names as in path.Match. One must match; empty: every name does. A pattern after "!"
	// excludes what it matches, whatever the others say. A pattern that matches no operation is an error.
	Operations []string

	and *Available // what else has to leave an operation
}

// And returns what leaves the operations that both leave.
func (o Available) And(other Available) Available {
	if !o.restricts() {
		return other
	}
	if other.and != nil {
		return o.And(*other.and).And(Available{
			ReadOnly: other.ReadOnly, NoDestructive: other.NoDestructive, Operations: other.Operations,
		})
	}
	other.and = &o
	return other
}

// restricts reports whether it switches anything off.
func (o *Available) restricts() bool {
	return o.ReadOnly || o.NoDestructive || len(o.Operations) > 0 || o.and != nil && o.and.restricts()
}

// readsOnly reports whether only operations of the category READ are left.
func (o *Available) readsOnly() bool { return o.ReadOnly || o.and != nil && o.and.readsOnly() }

// of returns the definitions that are available. It fails on patterns that match nothing, and where nothing is left.
func (o *Available) of(all *gen.Definitions, builtIns []string) (gen.Definitions, error) {
	if !o.restricts() {
		return *all, nil
	}
	names := slices.Clone(builtIns)
	for i := range all.Operations {
		names = append(names, all.Operations[i].Name)
	}
	var faults []error
	for part := o; part != nil; part = part.and {
		for _, pattern := range part.Operations {
			faults = append(faults, checkName(pattern, names, builtIns))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return gen.Definitions{}, err
	}
	left := all.Only(o.has)
	if len(left.Operations) == 0 {
		return gen.Definitions{}, fmt.Errorf("no operation is left: %s", o.description())
	}
	return left, nil
}

// has reports whether an operation is available.
func (o *Available) has(operation *gen.Operation) bool {
	return (!o.ReadOnly || operation.Category == gen.Read) &&
		(!o.NoDestructive || isHarmless(operation)) && o.hasName(operation.Name) && (o.and == nil || o.and.has(operation))
}

func isHarmless(o *gen.Operation) bool {
	level := o.Danger.Level()
	if level < 0 || level >= gen.Destructive.Level() {
		return false
	}
	removes := o.Category == gen.Delete || o.Category == gen.Execute
	return !removes || o.DangerSource == gen.DangerFromTag
}

func (o *Available) hasName(name string) bool {
	listed := true
	for _, pattern := range o.Operations {
		if excluded, isExclusion := strings.CutPrefix(pattern, "!"); !isExclusion {
			listed = false
		} else if matchesName(excluded, name) {
			return false
		}
	}
	return listed || slices.ContainsFunc(o.Operations, func(pattern string) bool { return matchesName(pattern, name) })
}

// matchesName reports whether a pattern that checkName has accepted matches a name.
func matchesName(pattern, name string) bool {
	matches, err := path.Match(pattern, name)
	return matches && err == nil
}

// checkName refuses a pattern that is none or that matches no name, and one that excludes a built-in operation.
func checkName(pattern string, names, builtIns []string) error {
	glob, excludes := strings.CutPrefix(pattern, "!")
	matches := func(name string) bool { return matchesName(glob, name) }
	switch _, err := path.Match(glob, ""); {
	case glob == "":
		return fmt.Errorf("pattern %q of operations is empty", pattern)
	case err != nil:
		return fmt.Errorf("pattern %q of operations: %w; * matches any text, ? one character, [a-z] one of a range",
			pattern, err)
	case !slices.ContainsFunc(names, matches):
		return fmt.Errorf("pattern %q matches no operation%s", pattern, words.Suggest(strings.Trim(glob, "*?_"), names))
	case excludes && slices.ContainsFunc(builtIns, matches) && !slices.ContainsFunc(names[len(builtIns):], matches):
		return fmt.Errorf("pattern %q excludes a built-in operation, which every adapter has", pattern)
	}
	return nil
}

// description names what is set.
func (o *Available) description() string {
	var set []string
	if o.ReadOnly {
		set = append(set, "only READ")
	}
	if o.NoDestructive {
		set = append(set, "nothing destructive")
	}
	if len(o.Operations) > 0 {
		set = append(set, "only "+strings.Join(o.Operations, ","))
	}
	if o.and != nil && o.and.restricts() {
		set = append(set, o.and.description())
	}
	return strings.Join(set, ", ")
}

// restrict switches operations off.
func (a *Adapter) restrict() (err error) {
	var builtIns []string
	for _, o := range a.surface.BuiltIns(&a.registered) {
		builtIns = append(builtIns, o.Name)
	}
	if a.definitions, err = a.options.Available.of(&a.registered, builtIns); err != nil {
		return err
	}
	if off := len(a.registered.Operations) - len(a.definitions.Operations); off > 0 {
		missing := make(hiddenFields)
		missing.addRelations(&a.registered, &a.definitions)
		missing.leaveOutOfExamples(&a.definitions)
		a.surface.OmitEmptyFamilies = true
		a.surface.ReadOnly = a.options.Available.readsOnly()
		a.log.Info("Operations are switched off", "off", off, "on", len(a.definitions.Operations),
			"because", a.options.Available.description())
	}
	return nil
}
