module github.com/aqltag/aqltag/aqlvet/golangci

go 1.26.0

require (
	github.com/aqltag/aqltag v0.1.0
	github.com/golangci/plugin-module-register v0.1.2
	golang.org/x/tools v0.52.0
)

require (
	github.com/aqltag/aqltag/runtime v0.1.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace github.com/aqltag/aqltag => ../..

replace github.com/aqltag/aqltag/runtime => ../../runtime
