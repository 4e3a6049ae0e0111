//go:build unix

package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

func TestMain(m *testing.M) {
	os.Exit(storetest.Main(m, func(ctx context.Context, location string) (store.Store, error) {
		return postgres.Open(ctx, location)
	}))
}

// Replicas are processes of their own (REQ-CT-09, REQ-CT-10).
func TestProcesses(t *testing.T) {
	slow(t)
	server := postgrestest.Start(t)
	storetest.RunProcesses(t, server.Location(), func(t *testing.T) store.Store { return open(t, server.Location()) })
}
