package connect_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/connect"
)

var update = flag.Bool("update", false, "write testdata/clients.txt")

var (
	command = connect.Server{Name: "notes", Command: []string{"/opt/notes adapter", "-db", `C:\x "y"`},
		Env: []connect.Variable{{Name: "TOKEN", Value: "a\tb"}}}
	remote = connect.Server{Name: "notes", URL: "https://example.com/mcp?a=b&c=d"}
)

// What each client is given, and where: testdata/clients.txt has it for review beside the clients' documentation.
func TestClients(t *testing.T) {
	var s strings.Builder
	getenv := func(name string) string { return map[string]string{"APPDATA": "/appdata"}[name] }
	for _, c := range connect.Clients() {
		s.WriteString("=== " + c.Name + ": " + c.Title + " (" + c.Documentation + ")\n")
		for _, os := range []string{"darwin", "linux", "windows"} {
			file, err := c.File(connect.Place{OS: os, Home: "/home/me", Dir: "/project", Getenv: getenv}, false, "notes")
			s.WriteString(os + ": " + file + errorText(err) + "\n")
		}
		file, err := c.File(connect.Place{OS: "linux", Home: "/home/me", Dir: "/project", Getenv: getenv}, true, "notes")
		s.WriteString("project: " + file + errorText(err) + "\n")
		for _, server := range []connect.Server{command, remote} {
			text, err := c.Snippet(server)
			s.WriteString(strings.TrimSuffix(text, "\n") + errorText(err) + "\n")
		}
	}
	path := filepath.Join("testdata", "clients.txt")
	if *update {
		if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), s.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func errorText(err error) string {
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return ""
}

func client(t *testing.T, name string) *connect.Client {
	t.Helper()
	all := connect.Clients()
	i := slices.IndexFunc(all, func(c connect.Client) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no client %s", name)
	}
	return &all[i]
}
