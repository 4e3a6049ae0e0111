module github.com/aqltag/aqltag/runtime/notify/desktop

go 1.26.0

require (
	github.com/aqltag/aqltag/runtime v0.1.0
	github.com/godbus/dbus/v5 v5.2.4
	github.com/google/go-cmp v0.7.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/aqltag/aqltag/runtime => ../..
