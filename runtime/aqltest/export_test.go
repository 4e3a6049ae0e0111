package aqltest

import aql "github.com/aqltag/aqltag/runtime"

// NewNotesRegistry returns a registry of notes in memory, like the one that the generator writes for a service.
func NewNotesRegistry() *aql.Registry { return notes{}.registry() }
