module github.com/aqltag/aqltag/test/site

go 1.26.0

require (
	github.com/aqltag/aqltag/test/browser v0.1.0
	github.com/chromedp/chromedp v0.23.0
	github.com/google/go-cmp v0.7.0
	golang.org/x/net v0.61.0
)

require (
	github.com/chromedp/cdproto v0.159.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
)

replace (
	github.com/aqltag/aqltag => ../..
	github.com/aqltag/aqltag/runtime => ../../runtime
	github.com/aqltag/aqltag/runtime/console/webauthn => ../../runtime/console/webauthn
	github.com/aqltag/aqltag/runtime/store/postgres => ../../runtime/store/postgres
	github.com/aqltag/aqltag/runtime/store/sqlite => ../../runtime/store/sqlite
	github.com/aqltag/aqltag/test => ..
	github.com/aqltag/aqltag/test/browser => ../browser
)
