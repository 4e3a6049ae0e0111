//go:build unix

package deploy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"
)

const composeFile = "deploy/compose.yaml"

// adapters are the services of the compose file that serve agents, and processes those that are the adapter.
var (
	adapters  = []string{"adapter-1", "adapter-2", "adapter-3"}
	processes = append(slices.Clip(adapters), "console")
)

// project reads the compose file as docker compose does.
func project(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(repository(t), composeFile)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The compose file says what the image and the server understand, and every file that it mounts is there, or one of the
// secrets that docs/deploy-fleet.md makes.
func TestComposeIsSound(t *testing.T) {
	p := project(t)
	if diff := cmp.Diff(append(slices.Clone(processes), "postgres", "prometheus", "proxy"),
		slices.Sorted(maps.Keys(p.Services))); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	root := repository(t)
	for name, service := range p.Services {
		for _, volume := range service.Volumes {
			if volume.Type != types.VolumeTypeBind {
				continue
			}
			made := []string{"deploy/run", "deploy/secrets/todo.pem"}
			file, err := filepath.Rel(root, volume.Source)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(volume.Source); err != nil && !slices.Contains(made, file) {
				t.Errorf("%s mounts %s: %v", name, file, err)
			}
		}
		for _, port := range service.Ports {
			if name != "proxy" && port.HostIP != "127.0.0.1" {
				t.Errorf("%s is reached from outside: %v", name, port)
			}
		}
		for network := range service.Networks {
			if name != "proxy" && name != "prometheus" && !p.Networks[network].Internal {
				t.Errorf("%s reaches what is outside, by %s", name, network)
			}
		}
		if (service.NetworkMode != "") != (name == "console") {
			t.Errorf("%s has the network %s", name, service.NetworkMode)
		}
	}
	if ignored := strings.Fields(read(t, ".dockerignore")); !slices.Contains(ignored, "deploy/secrets") {
		t.Error("the secrets are sent to who builds the image")
	}
	for _, name := range processes {
		service := p.Services[name]
		build := service.Build
		if name != "console" && (build == nil || build.Context != root || build.Dockerfile != containerFile) ||
			service.Image != p.Services[adapters[0]].Image {
			t.Errorf("%s is %s, built from %+v", name, service.Image, build)
		}
		if !service.ReadOnly || !slices.Equal(service.CapDrop, []string{"ALL"}) || service.User != "65532:65532" ||
			!slices.Equal(service.SecurityOpt, []string{"no-new-privileges:true"}) || service.Privileged {
			t.Errorf("%s may do more than it needs", name)
		}
		if grace := service.StopGracePeriod; grace == nil || time.Duration(*grace) < mostToEnd+drainOf(t, &service) {
			t.Errorf("%s has %v to end", name, grace)
		}
	}
}

// drainOf returns how long a process serves once it is to end.
func drainOf(t *testing.T, service *types.ServiceConfig) time.Duration {
	t.Helper()
	for _, argument := range service.Command {
		if text, ok := strings.CutPrefix(argument, "-drain="); ok {
			drain, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			return drain
		}
	}
	return 0
}

// An adapter serves until the proxy has taken it out: after three answers of /readyz, and a second for the last one.
func TestAdaptersDrainUntilTheProxyKnows(t *testing.T) {
	p := project(t)
	asks := regexp.MustCompile(`(?m)^\tserver (adapter-\d) .* check inter (\d+)s `).FindAllStringSubmatch(
		read(t, "deploy/haproxy-fleet.cfg"), -1)
	if len(asks) != len(adapters) {
		t.Fatalf("the proxy asks %q", asks)
	}
	for _, of := range asks {
		seconds, err := strconv.Atoi(of[2])
		if err != nil {
			t.Fatal(err)
		}
		service := p.Services[of[1]]
		if needs := time.Duration(3*seconds+1) * time.Second; drainOf(t, &service) < needs {
			t.Errorf("%s serves for %v, and the proxy needs %v", of[1], drainOf(t, &service), needs)
		}
	}
}

// People decide in the console about what the adapters hold up, by the same rules, keys and records. Nobody but this
// machine reaches it.
func TestComposeHasAConsole(t *testing.T) {
	p := project(t)
	console, adapter := p.Services["console"].Command, p.Services[adapters[0]].Command
	for _, word := range adapter {
		name, _, _ := strings.Cut(word, "=")
		own := slices.Contains([]string{"-addr", "-drain", "-host", "-tokens", "-metrics", "-console"}, name)
		if !own && !slices.Contains(console, word) {
			t.Errorf("the console does not have %s", word)
		}
	}
	if zone := p.Services["console"].Environment["TZ"]; zone == nil || *zone != "UTC" {
		t.Errorf("the console has the time zone %v, and not that of TODO_TZ, which is UTC where nobody sets it", zone)
	}
	if !slices.Contains(adapter, "-console=elsewhere") {
		t.Error("the console does not show what the adapters are asked for")
	}
	if want := []string{"-addr=unix:/tmp/mcp.sock", "-console=127.0.0.1:9080"}; !slices.Equal(console[1:3], want) {
		t.Errorf("the console listens on %q", console[1:3])
	}
}

// What the server reads of the compose file it knows: flags, variables, and secrets that the adapter has.
func TestComposeHasFlagsThatExist(t *testing.T) {
	u := usageOf(t, build(t, "1.0.0"))
	p := project(t)
	for _, name := range processes {
		service := p.Services[name]
		u.knows(t, service.Command, slices.Collect(maps.Keys(service.Environment)))
		text := strings.Join(service.Command, " ") + fmt.Sprint(*service.Environment["MCP_AQL_STATE"])
		for _, secret := range service.Secrets {
			if !strings.Contains(text, "/run/secrets/"+secret.Source) {
				t.Errorf("%s has the secret %s, and does not read it", name, secret.Source)
			}
		}
		if strings.Count(text, "/run/secrets/") != len(service.Secrets) {
			t.Errorf("%s has %d secrets, and reads others: %s", name, len(service.Secrets), text)
		}
	}
}
