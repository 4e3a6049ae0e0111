module github.com/aqltag/aqltag/examples/tickets

go 1.26.0

tool github.com/aqltag/aqltag/cmd/aql-tag

require github.com/google/go-cmp v0.7.0

require (
	github.com/aqltag/aqltag v0.1.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
)

require (
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace github.com/aqltag/aqltag => ../..

replace github.com/aqltag/aqltag/runtime => ../../runtime
