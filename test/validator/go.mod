// The path is below runtime/, so that the test may import the internal packages of the runtime.
module github.com/aqltag/aqltag/runtime/test/validator

go 1.26.0

require (
	github.com/aqltag/aqltag v0.1.0
	github.com/go-playground/validator/v10 v10.30.6
)

require (
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-playground/locales v0.14.2 // indirect
	github.com/go-playground/universal-translator v0.18.2 // indirect
	github.com/leodido/go-urn v1.5.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace github.com/aqltag/aqltag => ../..

replace github.com/aqltag/aqltag/runtime => ../../runtime
