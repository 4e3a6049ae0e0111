package gen

// Generated code mentions the version of this package that it is written for. It fails to compile where this package is too
// old to have that version, or so new that it has it no longer: "undefined: gen.Version1_UpdateRuntimeAndRunGoGenerate".
const Version1_UpdateRuntimeAndRunGoGenerate = true
