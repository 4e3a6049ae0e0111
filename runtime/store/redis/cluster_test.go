package redis_test

import (
	"fmt"
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

// freePort is a port that is free, as is the one 10,000 above, which the servers of a cluster use among themselves.
func freePort(t *testing.T) string {
	for range 1000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port > 55535 {
			continue
		}
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+10000)); err == nil {
			l.Close()
			return strconv.Itoa(port)
		}
	}
	t.Skip("there are no two free ports for a server of a cluster")
	return ""
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
