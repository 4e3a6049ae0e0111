//go:build unix

package deploy

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const containerFile = "deploy/Containerfile"

// instruction is one of a container file. What a machine with npm has to say about all of them is in container.sh.
type instruction struct{ name, text string }

// stages returns the instructions of each FROM.
func stages(t *testing.T) [][]instruction {
	t.Helper()
	var found [][]instruction
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(read(t, containerFile), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if name == "FROM" {
			found = append(found, nil)
		}
		if ok && len(found) > 0 {
			found[len(found)-1] = append(found[len(found)-1], instruction{name, rest})
		}
	}
	return found
}

// words returns what the last instruction of a name has in its list.
func words(t *testing.T, stage []instruction, name string) []string {
	t.Helper()
	var list []string
	for _, i := range slices.Backward(stage) {
		if i.name != name {
			continue
		}
		if err := json.Unmarshal([]byte(i.text), &list); err != nil {
			t.Fatalf("%s %s: %v", name, i.text, err)
		}
		return list
	}
	t.Fatalf("%s has no %s", containerFile, name)
	return nil
}

// image is what the instructions of the container file make: the root of its file system, and its user.
type image struct {
	root    string
	user    uint32
	command []string
}

// makeImage carries out the commands and the copies of the container file. The source is this work tree, and the cache
// that of the machine; what they write is below a folder of the test.
func makeImage(t *testing.T) image {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the server of the example")
	}
	all := stages(t)
	if len(all) != 2 || all[1][0].text != "scratch" {
		t.Fatalf("%s does not have a stage that builds, and one from scratch", containerFile)
	}
	dir := open(t)
	stage, root := filepath.Join(dir, "built"), filepath.Join(dir, "root")
	for _, folder := range []string{stage, root} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	places := strings.NewReplacer("/todo-server", stage+"/todo-server", "/image", stage+"/image")
	var environment []string
	for _, i := range all[0] {
		switch i.name {
		case "ARG":
			environment = append(environment, i.text)
		case "RUN":
			command := exec.CommandContext(t.Context(), "sh", "-c", places.Replace(i.text))
			command.Dir, command.Env = repository(t), append(os.Environ(), environment...)
			if os.Getuid() != 0 {
				command.Args[2] = "chown() { :; }; " + command.Args[2]
			}
			if printed, err := command.CombinedOutput(); err != nil {
				t.Fatalf("RUN %s: %v\n%s", i.text, err, printed)
			}
		}
	}
	made := image{root: root, command: slices.Concat(words(t, all[1], "ENTRYPOINT"), words(t, all[1], "CMD"))}
	for _, i := range all[1] {
		switch i.name {
		case "COPY":
			from, to, _ := strings.Cut(strings.TrimPrefix(i.text, "--from=build "), " ")
			if from == "/etc/ssl/certs/ca-certificates.crt" { // of the image that has Go
				continue
			}
			source := places.Replace(from)
			if from == "/image" {
				source += "/."
			}
			if printed, err := exec.CommandContext(t.Context(), "cp", "-a", source,
				filepath.Join(root, to)).CombinedOutput(); err != nil {
				t.Fatalf("COPY %s: %v\n%s", i.text, err, printed)
			}
		case "USER":
			number, err := strconv.ParseUint(strings.Split(i.text, ":")[0], 10, 32)
			if err != nil || number == 0 {
				t.Fatalf("USER %s: %v", i.text, err)
			}
			made.user = uint32(number)
		}
	}
	return made
}

// The image has one program that needs nothing else, and its user can write one folder.
func TestContainerHasOneProgram(t *testing.T) {
	made := makeImage(t)
	var programs []string
	err := filepath.WalkDir(made.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Mode()&0o111 != 0 {
			programs = append(programs, strings.TrimPrefix(path, made.root))
		}
		return nil
	})
	if err != nil || !slices.Equal(programs, []string{"/todo-server"}) {
		t.Errorf("programs: %q, %v", programs, err)
	}
	usageOf(t, filepath.Join(made.root, "todo-server")).knows(t, made.command, nil)
}

// As root the test starts the program in the image, as a container does: it sees no other file, and is another user.
// CMD listens where nobody else is, so the image alone opens nothing to anybody. It knows the time zone that TZ names.
func TestContainerServes(t *testing.T) {
	made := makeImage(t)
	if os.Getuid() != 0 {
		t.Skip("only root can start a program in a file system of its own")
	}
	address := free(t)
	if !slices.Contains(made.command, "127.0.0.1:8080") {
		t.Errorf("the image listens elsewhere: %q", made.command)
	}
	serve := func() *running {
		command := exec.CommandContext(t.Context(), made.command[0], made.command[1:]...)
		command.Path, command.Dir, command.Env = made.command[0], "/var/lib/todo", []string{"TZ=Asia/Tokyo"}
		for at, word := range command.Args {
			command.Args[at] = strings.ReplaceAll(word, "127.0.0.1:8080", address)
		}
		command.SysProcAttr = &syscall.SysProcAttr{
			Chroot: made.root, Credential: &syscall.Credential{Uid: made.user, Gid: made.user},
		}
		return start(t, address, command)
	}
	first := serve()
	anybody := agent{url: "http://" + address, client: named(address)}
	anybody.must(t, "create", "create_todo", map[string]string{"title": "Pay the rent"})
	if code := first.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := first.log.String(); !strings.Contains(log, "+09:00") {
		t.Errorf("its times are not those of TZ:\n%s", log)
	}
	serve()
	if list := anybody.must(t, "read", "list_todos", nil); !strings.Contains(string(list), "Pay the rent") {
		t.Errorf("after a restart: %s", list)
	}
}
