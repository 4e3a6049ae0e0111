module github.com/aqltag/aqltag/runtime/aqltest

go 1.26.0

require (
	github.com/aqltag/aqltag v0.1.0
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/aymanbagabas/go-udiff v0.4.1
	github.com/google/go-cmp v0.7.0
)

require (
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)

replace (
	github.com/aqltag/aqltag => ../..
	github.com/aqltag/aqltag/runtime => ..
)
