package redis_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

// ports are what is added to 10,000 for the ports that tests may take. They are below those that a system gives to
// clients, and to servers that name none: nobody takes one between freePort and the start of its server.
var ports = rand.Perm(10_000)

// freePort is a port that is free, as is the one 10,000 above, which the servers of a cluster use among themselves.
func freePort(t *testing.T) string {
	t.Helper()
	for len(ports) > 0 {
		port := 10_000 + ports[0]
		ports = ports[1:]
		if isFree(port) && isFree(port+10_000) {
			return strconv.Itoa(port)
		}
	}
	t.Fatal("there are no two free ports for a server of a cluster")
	return ""
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// A cluster of two servers: whichever of them a location names, the store finds the one that holds its space, also when
// that has moved.
func TestCluster(t *testing.T) {
	slow(t)
	var servers [2]*redistest.Server
	var ports, ids [2]string
	do := func(i int, words ...any) any {
		t.Helper()
		answer, err := client(t, servers[i]).Do(t.Context(), words...).Result()
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return answer
	}
	for i := range servers {
		ports[i] = freePort(t)
		servers[i] = redistest.Start(t, "--port", ports[i], "--bind", "127.0.0.1", "--cluster-enabled", "yes",
			"--cluster-node-timeout", "2000")
		ids[i] = do(i, "CLUSTER", "MYID").(string)
	}
	do(0, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	do(0, "CLUSTER", "MEET", "127.0.0.1", ports[1])
	agree := func() bool {
		for i := range servers {
			info := do(i, "CLUSTER", "INFO").(string)
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:2") {
				return false
			}
		}
		return true
	}
	for !agree() {
		time.Sleep(20 * time.Millisecond)
	}
	location := func(i int) string { return "redis://127.0.0.1:" + ports[i] }
	opened := 0
	storetest.Run(t, func(t *testing.T) store.Store {
		opened++
		return open(t, location(opened%2))
	})
	if _, err := redis.Open(t.Context(), servers[1].Location()); err == nil || !strings.Contains(err.Error(), "cluster") {
		t.Errorf("by a socket: %v", err)
	}

	s := open(t, location(0))
	recovers(t, s)
	// The slot changes hands without what it held, as after a failover that lost everything.
	do(0, "FLUSHALL")
	slot := do(0, "CLUSTER", "KEYSLOT", "{aql}")
	for _, i := range []int{1, 0} {
		do(i, "CLUSTER", "SETSLOT", slot, "NODE", ids[1])
	}
	recovers(t, s)
	if n := do(0, "DBSIZE"); n != int64(0) {
		t.Errorf("%v keys are where they were", n)
	}
	servers[1].Stop()
	fails(t, s, true, "the ")
	servers[1].Restart()
	recovers(t, s)
}
