package redis

import (
	_ "embed"

	goredis "github.com/redis/go-redis/v9"
)

var (
	//go:embed scripts/put.lua
	putText string
	//go:embed scripts/delete.lua
	deleteText string
	//go:embed scripts/list.lua
	listText string
	//go:embed scripts/take.lua
	takeText string
)

// The scripts are sent by their digest, and in full if the server does not have them. Scripts that change something
// begin with #!lua, so that a server which accepts no changes refuses them at once, and does not answer with a conflict
// from data that may be old.
var (
	putScript    = goredis.NewScript(putText)
	deleteScript = goredis.NewScript(deleteText)
	listScript   = goredis.NewScript(listText)
	takeScript   = goredis.NewScript(takeText)
)
