module github.com/aqltag/aqltag/runtime/console/oidc

go 1.26.0

require (
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/coreos/go-oidc/v3 v3.20.0
	github.com/go-jose/go-jose/v4 v4.1.4
	golang.org/x/oauth2 v0.37.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace github.com/aqltag/aqltag/runtime => ../..
