package redis_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

// Replicas are processes of their own (REQ-CT-09, REQ-CT-10).
func TestProcesses(t *testing.T) {
	slow(t)
	server := redistest.Start(t)
	storetest.RunProcesses(t, server.Location(), func(t *testing.T) store.Store { return open(t, server.Location()) })
}
