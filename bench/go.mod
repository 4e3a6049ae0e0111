module github.com/aqltag/aqltag/bench

go 1.26.0

tool github.com/aqltag/aqltag/cmd/aql-tag

require (
	github.com/aqltag/aqltag v0.0.0
	github.com/aqltag/aqltag/examples/todo v0.0.0
)

replace (
	github.com/aqltag/aqltag => ..
	github.com/aqltag/aqltag/examples/todo => ../examples/todo
)
