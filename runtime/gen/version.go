package gen

// Version1_UpdateRuntimeAndRunGoGenerate is mentioned by generated code that fits this package. Code that needs a newer
// package, or that this package no longer supports, does not compile; the compiler's message is what to do:
//
//	undefined: gen.Version1_UpdateRuntimeAndRunGoGenerate
//
//nolint:revive // The compiler prints the name as its message.
const Version1_UpdateRuntimeAndRunGoGenerate = true //nolint:revive // it is a message
