package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
	"github.com/aqltag/aqltag/internal/connect"
	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/runtime/words"
)

const connectHelp = `
Usage: aql-tag connect [flags] CLIENT -- COMMAND [ARGUMENT...]
       aql-tag connect [flags] -url URL CLIENT
       aql-tag connect -format mcpb|registry [flags] -- COMMAND [ARGUMENT...]

connect prints the configuration with which an MCP client finds a server, any server of MCP. It starts the server, or
connects to it, to learn its name, and with -format its version; what flags say is not asked. With -w it adds the server
to the file of the client, and changes nothing else in it. Without CLIENT it lists the clients and their files.

With -format mcpb it prints the manifest.json of an MCP bundle, and with -format registry the server.json for the MCP
registry.

Flags:

Exit codes: 0 ok, 2 the client's file has errors or another server of that name, 3 bad flags, 4 the server does not
answer, or a file cannot be read or written.
`

// exitConfiguration means that the file of a client has errors, or another server of the name.
const exitConfiguration = 2

// connectFlags are the flags of "aql-tag connect".
type connectFlags struct {
	url, name, file, format         string
	version, description, author    string
	bundle, bundleURL, image        string
	bearerFile                      string
	write, project, replace, listed bool
	timeout                         time.Duration
	env                             []connect.Variable
	client                          *connect.Client
	command                         []string
}

// runConnect prints or writes the configuration of a client, or a file that describes a server.
func runConnect(ctx context.Context, env *environment, args []string) int {
	var f connectFlags
	if code := f.parse(env, args); code >= 0 {
		return code
	}
	fail := func(code int, err error) int {
		fmt.Fprintf(env.stderr, "aql-tag connect: %s\n", conform.Printable(err.Error()))
		return code
	}
	if f.listed {
		if err := listClients(env); err != nil {
			return fail(exitIO, err)
		}
		return exitOK
	}
	server := connect.Server{Name: f.name, Env: f.env, URL: f.url}
	if f.url == "" {
		command, err := f.absolute(env)
		if err != nil {
			return fail(exitIO, err)
		}
		server.Command = command
	}
	about := connect.About{Version: f.version, Description: f.description, Author: f.author, Bundle: f.bundleURL,
		Image: f.image}
	if f.name == "" || f.format != "" && f.version == "" {
		if err := f.ask(ctx, env, &server, &about); err != nil {
			return fail(exitIO, err)
		}
	}
	if f.format != "" {
		return f.describe(env, server, about)
	}
	if server.Name = entryName(server.Name); server.Name == "" {
		return fail(exitUsage, errors.New("the server does not say its name; give one with -name"))
	}
	if f.write {
		return f.merge(env, server)
	}
	text, err := f.client.Snippet(server)
	if err != nil {
		return fail(exitUsage, err)
	}
	fmt.Fprint(env.stdout, text)
	if file, err := f.target(env, server.Name); err != nil {
		fmt.Fprintln(env.stderr, strings.TrimSpace(err.Error()+". "+f.client.Note))
	} else {
		fmt.Fprintln(env.stderr, strings.TrimSpace("This belongs in "+file+"; with -w it is added there. "+f.client.Note))
	}
	return exitOK
}

// parse reads the flags, the client and the command.
func (f *connectFlags) parse(env *environment, args []string) int {
	set := newFlagSet(env, "connect", connectHelp)
	set.StringVar(&f.url, "url", "", "the MCP endpoint of a server: a `url`")
	set.StringVar(&f.bearerFile, "bearer-file", "",
		"the `file` with the bearer token with which the server at -url is asked; it is not written")
	set.StringVar(&f.name, "name", "", "what to call the server: a `name`; without it the server is asked")
	set.Func("env", "set an environment variable of the command: `NAME=VALUE`; in -format also NAME, "+
		"for which users are asked", f.addVariable)
	set.BoolVar(&f.write, "w", false, "add the server to the file of the client")
	set.BoolVar(&f.project, "project", false, "use the client's file of this project, not that of the user")
	set.StringVar(&f.file, "file", "", "the `file` of the client, where it is not at its usual place")
	set.BoolVar(&f.replace, "replace", false, "replace another entry of the same name")
	set.StringVar(&f.format, "format", "", "print a file for others instead: the `format` is mcpb or registry")
	set.StringVar(&f.version, "version", "", "the `version` for -format; without it the server's own")
	set.StringVar(&f.description, "description", "", "a `sentence` for -format")
	set.StringVar(&f.author, "author", "", "the author's `name` for -format mcpb")
	set.StringVar(&f.bundle, "bundle", "", "the bundle of the server, for -format registry: a `file`")
	set.StringVar(&f.bundleURL, "bundle-url", "", "where that file can be downloaded: a `url`")
	set.StringVar(&f.image, "image", "", "an OCI image of the server, for -format registry: a `name` with its tag")
	set.DurationVar(&f.timeout, "timeout", 10*time.Second, "how long to wait for the server: a `duration` (default 10s)")
	if i := slices.Index(args, "--"); i >= 0 {
		args, f.command = args[:i], args[i+1:]
	}
	clients, code := set.parse(args)
	if code >= 0 {
		return code
	}
	if err := f.check(clients); err != nil {
		return set.refuse(err)
	}
	return -1
}

// check fails if the flags do not fit together.
func (f *connectFlags) check(clients []string) error {
	if len(clients) == 0 && f.format == "" && f.url == "" && len(f.command) == 0 {
		f.listed = true
		return nil
	}
	switch {
	case f.format != "" && f.format != "mcpb" && f.format != "registry":
		return fmt.Errorf("-format is mcpb or registry, not %q", f.format)
	case f.format != "" && (len(clients) > 0 || f.write):
		return errors.New("-format takes no client, and writes to standard output")
	case f.format == "" && len(clients) != 1:
		return errors.New("say which client, and its command behind --; without arguments, connect lists the clients")
	case f.url == "" && len(f.command) == 0:
		return errors.New("say what to connect: -- COMMAND, or -url URL")
	case f.url != "" && len(f.command) > 0:
		return errors.New("-url and a command contradict each other")
	case f.url == "" && f.bearerFile != "":
		return errors.New("-bearer-file goes with -url")
	case f.timeout <= 0:
		return errors.New("-timeout must be more than nothing")
	case f.format == "" && f.name != "" && f.name != entryName(f.name):
		return fmt.Errorf("-name has letters, digits, '_' and '-', not %q", f.name)
	case f.format == "" && slices.ContainsFunc(f.env, func(v connect.Variable) bool { return v.Asked }):
		return errors.New("-env is NAME=VALUE; NAME alone is for -format")
	}
	if u, err := url.Parse(f.url); f.url != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("-url is not the URL of an MCP endpoint: %q", f.url)
	}
	if f.format != "" {
		return nil
	}
	var names []string
	for _, c := range connect.Clients() {
		if c.Name == clients[0] {
			f.client = &c
			return nil
		}
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no client %q%s; there are %s", clients[0], words.Suggest(clients[0], names),
		strings.Join(names, ", "))
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (f *connectFlags) addVariable(text string) error {
	name, value, has := strings.Cut(text, "=")
	if !variableName.MatchString(name) {
		return fmt.Errorf("%q is not NAME=VALUE", text)
	}
	f.env = append(f.env, connect.Variable{Name: name, Value: value, Asked: !has})
	return nil
}

// entryName returns the name of a server as all clients take it; empty: nothing is left of it.
func entryName(name string) string {
	return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(name, "-"), "-")
}

// listClients prints the clients, and the files that configure them.
func listClients(env *environment) error {
	table := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
	place, err := env.place()
	if err != nil {
		return err
	}
	for _, c := range connect.Clients() {
		file, err := c.File(place, false, "NAME")
		if err != nil {
			file = "(" + err.Error() + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, c.Title, file)
	}
	return table.Flush()
}

// place is where the clients of this user run.
func (e *environment) place() (connect.Place, error) {
	home, err := os.UserHomeDir()
	return connect.Place{OS: runtime.GOOS, Home: home, Dir: e.dir, Getenv: os.Getenv}, err
}

// target returns the file of the client.
func (f *connectFlags) target(env *environment, name string) (string, error) {
	if f.file != "" {
		return env.path(f.file), nil
	}
	place, err := env.place()
	if err != nil {
		return "", err
	}
	return f.client.File(place, f.project, name)
}

// absolute returns the command with the path of its program, and warns of arguments that depend on the directory.
func (f *connectFlags) absolute(env *environment) ([]string, error) {
	program := f.command[0]
	if strings.ContainsRune(program, filepath.Separator) || strings.Contains(program, "/") {
		program = env.path(program)
	}
	program, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("finding the command: %w", err)
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, fmt.Errorf("finding the command: %w", err)
	}
	for _, argument := range f.command[1:] {
		if _, err := os.Stat(env.path(argument)); err == nil && !filepath.IsAbs(argument) && f.format == "" {
			fmt.Fprintf(env.stderr, "warning: argument %s is the name of a file here; clients start the command in a "+
				"directory of their own, so give an absolute path\n", conform.Printable(argument))
		}
	}
	return append([]string{program}, f.command[1:]...), nil
}

// ask fills in what the server says of itself.
func (f *connectFlags) ask(ctx context.Context, env *environment, s *connect.Server, about *connect.About) error {
	var kept logged
	options := mcpclient.Options{Name: "aql-tag connect", Timeout: f.timeout, Stderr: &kept}
	for _, v := range s.Env {
		if !v.Asked {
			options.Env = append(options.Env, v.Name+"="+v.Value)
		}
	}
	client, err := dial(ctx, env, s.Command, s.URL, f.bearerFile, options)
	if err != nil {
		kept.print(env.stderr)
		return fmt.Errorf("%w; with -name the server is not asked", err)
	}
	defer client.Close() //nolint:errcheck // what it said is what counts
	name, version := client.Implementation()
	if s.Name == "" {
		s.Name = name
	}
	if about.Version == "" {
		about.Version = version
	}
	if f.format != "mcpb" {
		return nil
	}
	tools, err := client.Tools(ctx)
	for _, tool := range tools {
		about.Tools = append(about.Tools, [2]string{tool.Name, words.FirstSentence(tool.Description)})
	}
	return err
}

// describe prints the manifest of a bundle, or the entry of the registry.
func (f *connectFlags) describe(env *environment, server connect.Server, about connect.About) int {
	if f.bundle != "" {
		sum, err := digest(env.path(f.bundle))
		if err != nil {
			fmt.Fprintf(env.stderr, "aql-tag connect: reading the bundle: %v\n", err)
			return exitIO
		}
		about.SHA256 = sum
	}
	write := connect.RegistryEntry
	if f.format == "mcpb" {
		server.Name = entryName(server.Name)
		write = connect.BundleManifest
	}
	text, err := write(server, about)
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag connect: %s\n", conform.Printable(err.Error()))
		return exitUsage
	}
	fmt.Fprint(env.stdout, text)
	return exitOK
}

// digest returns the SHA-256 of a file in hexadecimal.
func digest(name string) (string, error) {
	if err := plainfile.Readable(name); err != nil {
		return "", err
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it is only read
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
