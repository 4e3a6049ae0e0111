package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// version is what the synthetic modules require of aql-tag.
const version = "v0.0.0-bench"

// serve makes the working tree in root a module in a proxy of files, beside what is in the module cache, so that the
// synthetic modules meet aql-tag as any other dependency. It returns the environment that leads to it.
func serve(dir, root string) ([]string, error) {
	versions := filepath.Join(dir, "proxy", "github.com", "aqltag", "aqltag", "@v")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	if err := writeFiles(versions, map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(mod),
	}); err != nil {
		return nil, err
	}
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	tree, err := git("stash", "create")
	if err != nil {
		return nil, err
	}
	if tree == "" {
		tree = "HEAD"
	}
	nested, err := git("ls-files", "*/go.mod")
	if err != nil {
		return nil, err
	}
	archive := []string{
		"archive", "--format=zip", "--prefix=github.com/aqltag/aqltag@" + version + "/", "-o", filepath.Join(versions, version+".zip"), tree, "--", ".",
	}
	for file := range strings.FieldsSeq(nested) { // a module's archive holds no other module
		archive = append(archive, ":!"+filepath.Dir(file))
	}
	if _, err := git(archive...); err != nil {
		return nil, err
	}
	download := exec.Command("go", "mod", "download")
	download.Dir = root
	download.Env = append(os.Environ(), "GOWORK=off")
	if out, err := download.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("downloading what aql-tag requires: %w\n%s", err, out)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return []string{
		"GOPROXY=file://" + filepath.Join(dir, "proxy") + ",file://" + filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"),
		"GOSUMDB=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + filepath.Join(dir, "modules"),
	}, nil
}
