package console

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/store"
)

// People are not led to hosts that whoever can write the state has named.
func TestPlacesOfOtherHosts(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		hosts      []string
		believed   bool
	}{
		{"this machine", "http://127.0.0.1:9090/", nil, true},
		{"this machine, by another address", "http://[::1]:9090/", nil, true},
		{"a host of the options", "https://Console.example.com/", []string{"console.example.com"}, true},
		{"another port of it", "https://console.example.com:8443/", []string{"console.example.com"}, false},
		{"another machine", "https://evil.example/", nil, false},
		{"another machine with the name of this one", "https://127.0.0.1@evil.example/", nil, false},
		{"a user before this machine", "http://eve@127.0.0.1:9090/", nil, false},
		{"no web page", "javascript://127.0.0.1:9090/", nil, false},
		{"nothing", "", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, state := new(machine), new(store.Memory)
				other, err := m.listen(t.Context(), "tcp", shared)
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				text, err := json.Marshal(setup.Place{URL: tt.says, Process: 1})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := state.Put(t.Context(), keyOf("9090"), text, 0, 0); err != nil {
					t.Fatal(err)
				}
				p := start(t, m, state, func(o *Options) { o.Hosts, o.Secure = tt.hosts, tt.hosts != nil })
				time.Sleep(2*tryEvery + time.Second)
				synctest.Wait()
				want := ""
				if tt.believed {
					want = tt.says
				}
				if got := p.url(); got != want {
					t.Errorf("the console is at %q, want %q", got, want)
				}
			})
		})
	}
}
