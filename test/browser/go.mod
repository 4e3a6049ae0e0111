module github.com/aqltag/aqltag/test/browser

go 1.26.0

require (
	github.com/aqltag/aqltag/runtime/store/postgres v0.1.0 // indirect
	github.com/aqltag/aqltag/runtime/store/sqlite v0.1.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.4 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/webauthn v0.18.2 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)

require (
	github.com/aqltag/aqltag v0.1.0
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/aqltag/aqltag/runtime/console/webauthn v0.1.0
	github.com/aqltag/aqltag/test v0.1.0
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/modelcontextprotocol/go-sdk v1.8.0
)

replace (
	github.com/aqltag/aqltag => ../..
	github.com/aqltag/aqltag/runtime => ../../runtime
	github.com/aqltag/aqltag/runtime/console/webauthn => ../../runtime/console/webauthn
	github.com/aqltag/aqltag/runtime/store/postgres => ../../runtime/store/postgres
	github.com/aqltag/aqltag/runtime/store/sqlite => ../../runtime/store/sqlite
	github.com/aqltag/aqltag/test => ..
)
