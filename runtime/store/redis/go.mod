module github.com/aqltag/aqltag/runtime/store/redis

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/aqltag/aqltag/runtime => ../..
