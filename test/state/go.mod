module github.com/aqltag/aqltag/test/state

go 1.26.0

require (
	github.com/aqltag/aqltag v0.1.0
	github.com/aqltag/aqltag/runtime/execution/river v0.1.0
	github.com/aqltag/aqltag/runtime/notify/desktop v0.1.0
	github.com/aqltag/aqltag/runtime/store/postgres v0.1.0
	github.com/aqltag/aqltag/runtime/store/redis v0.1.0
	github.com/aqltag/aqltag/runtime/store/sqlite v0.1.0
	github.com/jackc/pgx/v5 v5.12.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/godbus/dbus/v5 v5.2.4 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/riverqueue/river v0.51.1 // indirect
	github.com/riverqueue/river/riverdriver v0.51.1 // indirect
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.1 // indirect
	github.com/riverqueue/river/rivershared v0.51.1 // indirect
	github.com/riverqueue/river/rivertype v0.51.1 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
)

require (
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)

replace (
	github.com/aqltag/aqltag => ../..
	github.com/aqltag/aqltag/runtime/execution/river => ../../runtime/execution/river
	github.com/aqltag/aqltag/runtime/notify/desktop => ../../runtime/notify/desktop
	github.com/aqltag/aqltag/runtime/store/postgres => ../../runtime/store/postgres
	github.com/aqltag/aqltag/runtime/store/redis => ../../runtime/store/redis
	github.com/aqltag/aqltag/runtime/store/sqlite => ../../runtime/store/sqlite
)

replace github.com/aqltag/aqltag/runtime => ../../runtime
