package connect

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// About is what the files that describe a server say of it, beside the server itself.
type About struct {
	Version, Description, Author string
	// Tools are the names and descriptions of its tools.
	Tools [][2]string
	// Bundle is the URL of the bundle of the server, and SHA256 its digest in hexadecimal; Image is an OCI image.
	Bundle, SHA256, Image string
}

var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// check fails unless the version and the description are there.
func (a *About) check() error {
	switch {
	case !semver.MatchString(a.Version):
		return fmt.Errorf("version %q is not a semantic version such as 1.0.0; say it with -version", a.Version)
	case strings.TrimSpace(a.Description) == "":
		return errors.New("say what the server does with -description")
	}
	return nil
}

// BundleManifest returns the manifest.json of an MCP bundle, version 0.3, that holds the command in its folder server.
// It fails for a server at a URL, and if something that a manifest must have is missing.
func BundleManifest(s Server, a About) (string, error) {
	if s.Command == nil {
		return "", errors.New("a bundle holds a command; a server at a URL needs none")
	}
	if a.Author == "" {
		return "", errors.New("say who the author is with -author")
	}
	if err := a.check(); err != nil {
		return "", err
	}
	entryPoint := "server/" + filepath.Base(s.Command[0])
	start := []member{{"command", "${__dirname}/" + entryPoint}, {"args", s.Command[1:]}}
	var env, asked []member
	for _, v := range s.Env {
		if !v.Asked {
			env = append(env, member{v.Name, v.Value})
			continue
		}
		key := strings.ToLower(v.Name)
		env = append(env, member{v.Name, "${user_config." + key + "}"})
		asked = append(asked, member{key, []member{
			{"type", "string"}, {"title", v.Name}, {"description", "The environment variable " + v.Name},
			{"sensitive", true}, {"required", true},
		}})
	}
	if env != nil {
		start = append(start, member{"env", env})
	}
	var tools []any
	for _, tool := range a.Tools {
		tools = append(tools, []member{{"name", tool[0]}, {"description", tool[1]}})
	}
	manifest := []member{
		{"manifest_version", "0.3"}, {"name", s.Name}, {"version", a.Version}, {"description", a.Description},
		{"author", []member{{"name", a.Author}}},
		{"server", []member{{"type", "binary"}, {"entry_point", entryPoint}, {"mcp_config", start}}},
	}
	if tools != nil {
		manifest = append(manifest, member{"tools", tools})
	}
	if asked != nil {
		manifest = append(manifest, member{"user_config", asked})
	}
	return jsonText(manifest, "", "  ", "\n") + "\n", nil
}

var registryName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

const mostInRegistry = 100 // characters of a description

// RegistryEntry returns the server.json of the MCP registry, of the schema of 2025-12-11: for a server at a URL, or for
// the bundle or image of a command. It fails if something that the registry wants is missing.
func RegistryEntry(s Server, a About) (string, error) {
	if !registryName.MatchString(s.Name) {
		return "", fmt.Errorf("the registry wants a name such as io.github.you/notes, not %q; say it with -name", s.Name)
	}
	if err := a.check(); err != nil {
		return "", err
	}
	if n := utf8.RuneCountInString(a.Description); n > mostInRegistry {
		return "", fmt.Errorf("the description has %d characters; the registry takes %d", n, mostInRegistry)
	}
	entry := []member{
		{"$schema", "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
		{"name", s.Name}, {"description", a.Description}, {"version", a.Version},
	}
	if s.Command == nil {
		remote := []member{{"type", "streamable-http"}, {"url", s.URL}}
		return jsonText(append(entry, member{"remotes", []any{remote}}), "", "  ", "\n") + "\n", nil
	}
	var pack []member
	switch {
	case a.Bundle != "" && a.SHA256 != "":
		pack = []member{{"registryType", "mcpb"}, {"identifier", a.Bundle}, {"fileSha256", a.SHA256}}
	case a.Image != "":
		pack = []member{{"registryType", "oci"}, {"identifier", a.Image}}
	default:
		return "", errors.New("say where the server can be downloaded: -bundle FILE -bundle-url URL, or -image NAME")
	}
	pack = append(pack, member{"transport", []member{{"type", "stdio"}}})
	var arguments, variables []any
	for _, argument := range s.Command[1:] {
		arguments = append(arguments, []member{{"type", "positional"}, {"value", argument}})
	}
	for _, v := range s.Env {
		if v.Asked {
			variables = append(variables, []member{{"name", v.Name}, {"isRequired", true}, {"isSecret", true}})
		} else {
			variables = append(variables, []member{{"name", v.Name}, {"value", v.Value}})
		}
	}
	if arguments != nil {
		pack = append(pack, member{"packageArguments", arguments})
	}
	if variables != nil {
		pack = append(pack, member{"environmentVariables", variables})
	}
	return jsonText(append(entry, member{"packages", []any{pack}}), "", "  ", "\n") + "\n", nil
}
