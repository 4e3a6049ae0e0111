module github.com/aqltag/aqltag/test/deploy

go 1.26.0

require (
	github.com/aqltag/aqltag v0.1.0
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/aqltag/aqltag/runtime/store/postgres v0.1.0
	github.com/aqltag/aqltag/test v0.1.0
	github.com/compose-spec/compose-go/v2 v2.16.2
	github.com/google/go-cmp v0.7.0
	github.com/jackc/pgx/v5 v5.12.0
)

require (
	github.com/aqltag/aqltag/runtime/store/sqlite v0.1.0 // indirect
	github.com/distribution/reference v0.5.0 // indirect
	github.com/docker/go-connections v0.4.0 // indirect
	github.com/docker/go-units v0.5.0 // indirect
	github.com/go-viper/mapstructure/v2 v2.4.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/mattn/go-shellwords v1.0.12 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/sirupsen/logrus v1.10.1 // indirect
	github.com/xhit/go-str2duration/v2 v2.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace (
	github.com/aqltag/aqltag => ../..
	github.com/aqltag/aqltag/runtime => ../../runtime
	github.com/aqltag/aqltag/runtime/store/postgres => ../../runtime/store/postgres
	github.com/aqltag/aqltag/runtime/store/sqlite => ../../runtime/store/sqlite
	github.com/aqltag/aqltag/test => ..
)
