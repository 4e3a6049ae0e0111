// Package connect writes the configurations with which MCP clients find a server: entries of the files of each client,
// and the files that describe a server to others, the manifest of an MCP bundle and the entry of the MCP registry.
package connect

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// Server is what a configuration says of a server.
type Server struct {
	Name string
	// Command is the command with its arguments; nil: the server is at URL.
	Command []string
	Env     []Variable
	URL     string
}

// Variable is an environment variable that a client sets for the command.
type Variable struct {
	Name, Value string
	// Asked says that the value is not known: the user of a bundle is asked for it.
	Asked bool
}

// Client is an MCP client, and how it is configured.
type Client struct {
	// Name is what the command line calls it, and Title its own name.
	Name, Title string
	// User is the configuration of the user for each operating system, and Project that of a project; empty: there is
	// none. "NAME" stands for the name of the server, "~" for the user's home directory.
	User    map[string]string
	Project string
	// Root is the member that holds the servers.
	Root string
	// TOML says that the file is TOML, not JSON.
	TOML bool
	// StdioType is the member type of an entry with a command; empty: it has none.
	StdioType string
	// URL is the member for the URL of a server, and URLType the member type beside it; no URL: the client's file has no
	// servers at URLs.
	URL, URLType string
	// Note is a sentence for people.
	Note string
	// Documentation is where the format is documented.
	Documentation string
}

// everywhere is a path below the home directory that is the same on all operating systems.
func everywhere(file string) map[string]string {
	return map[string]string{"darwin": file, "linux": file, "windows": file}
}

// Clients returns the clients that are known, in the order of their names.
func Clients() []Client {
	return []Client{
		{
			Name: "claude-code", Title: "Claude Code", Project: ".mcp.json", Root: "mcpServers", URL: "url", URLType: "http",
			Documentation: "https://code.claude.com/docs/en/mcp",
		},
		{
			Name: "claude-desktop", Title: "Claude Desktop", Root: "mcpServers",
			User: map[string]string{
				"darwin":  "~/Library/Application Support/Claude/claude_desktop_config.json",
				"windows": "%APPDATA%/Claude/claude_desktop_config.json",
			},
			Note:          "Restart Claude Desktop. It takes servers at a URL in its settings, under Connectors.",
			Documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
		},
		{
			Name: "cline", Title: "Cline", User: everywhere("~/.cline/data/settings/cline_mcp_settings.json"),
			Root: "mcpServers", URL: "url", URLType: "streamableHttp",
			Note:          "An extension may keep its file elsewhere: MCP Servers, Configure, Configure MCP Servers.",
			Documentation: "https://docs.cline.bot/mcp/mcp-overview",
		},
		{
			Name: "codex", Title: "Codex CLI", User: everywhere("~/.codex/config.toml"), Project: ".codex/config.toml",
			Root: "mcp_servers", TOML: true, URL: "url",
			Documentation: "https://developers.openai.com/codex/mcp/",
		},
		{
			Name: "continue", Title: "Continue", Project: ".continue/mcpServers/NAME.json", Root: "mcpServers",
			URL: "url", URLType: "http",
			Documentation: "https://docs.continue.dev/customize/deep-dives/mcp",
		},
		{
			Name: "cursor", Title: "Cursor", User: everywhere("~/.cursor/mcp.json"), Project: ".cursor/mcp.json",
			Root: "mcpServers", URL: "url",
			Documentation: "https://cursor.com/docs/mcp",
		},
		{
			Name: "gemini", Title: "Gemini CLI", User: everywhere("~/.gemini/settings.json"),
			Project: ".gemini/settings.json", Root: "mcpServers", URL: "httpUrl",
			Documentation: "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
		},
		{
			Name: "jetbrains", Title: "JetBrains AI Assistant", Root: "mcpServers",
			Note:          "Paste it in Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON.",
			Documentation: "https://www.jetbrains.com/help/ai-assistant/mcp.html",
		},
		{
			Name: "vscode", Title: "VS Code", Project: ".vscode/mcp.json", Root: "servers", StdioType: "stdio", URL: "url",
			URLType:       "http",
			Documentation: "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
		},
		{
			Name: "windsurf", Title: "Windsurf", User: everywhere("~/.codeium/windsurf/mcp_config.json"),
			Root: "mcpServers", URL: "serverUrl",
			Documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
		},
		{
			Name: "zed", Title: "Zed", Root: "context_servers", URL: "url",
			User: map[string]string{
				"darwin": "~/.config/zed/settings.json", "linux": "$XDG_CONFIG_HOME/zed/settings.json",
				"windows": "%APPDATA%/Zed/settings.json",
			},
			Documentation: "https://zed.dev/docs/ai/mcp",
		},
	}
}

// Place is the machine on which a client runs.
type Place struct {
	OS, Home, Dir string
	// Getenv returns environment variables, such as APPDATA.
	Getenv func(name string) string
}

// File returns the file that configures a client for a server: that of the user where there is one, or that of the
// project in the directory. It fails if the client has no such file.
func (c *Client) File(p Place, project bool, server string) (string, error) {
	file, has := c.User[p.OS]
	switch {
	case project && c.Project == "":
		return "", fmt.Errorf("%s has no configuration of a project", c.Title)
	case project, len(c.User) == 0 && c.Project != "":
		return filepath.Join(p.Dir, filepath.FromSlash(strings.ReplaceAll(c.Project, "NAME", server))), nil
	case len(c.User) == 0:
		return "", fmt.Errorf("%s keeps its servers in its settings, not in a file", c.Title)
	case !has:
		return "", fmt.Errorf("%s documents no configuration file for this operating system", c.Title)
	}
	root, rest, _ := strings.Cut(file, "/")
	switch root {
	case "%APPDATA%":
		root = p.Getenv("APPDATA")
	case "$XDG_CONFIG_HOME":
		if root = p.Getenv("XDG_CONFIG_HOME"); root == "" {
			root = path.Join(filepath.ToSlash(p.Home), ".config")
		}
	default:
		root = p.Home
		if home := p.Getenv("CODEX_HOME"); home != "" && c.Name == "codex" {
			root, rest = home, path.Base(rest)
		}
	}
	if root == "" {
		return "", fmt.Errorf("the directory of the configuration of %s is not known: %s", c.Title, file)
	}
	return filepath.Join(filepath.FromSlash(root), filepath.FromSlash(rest)), nil
}

// member is a member of a JSON object, in order.
type member struct {
	name  string
	value any // a string, a list of strings, or []member
}

// entry returns the members of a server's entry. It fails if the client does not take servers at URLs.
func (c *Client) entry(s Server) ([]member, error) {
	var all []member
	if s.Command == nil {
		if c.URL == "" {
			return nil, fmt.Errorf("%s takes servers at URLs in its settings, not in a configuration that can be written",
				c.Title)
		}
		if c.URLType != "" {
			all = append(all, member{"type", c.URLType})
		}
		return append(all, member{c.URL, s.URL}), nil
	}
	if c.StdioType != "" {
		all = append(all, member{"type", c.StdioType})
	}
	all = append(all, member{"command", s.Command[0]})
	if len(s.Command) > 1 {
		all = append(all, member{"args", s.Command[1:]})
	}
	var env []member
	for _, v := range s.Env {
		env = append(env, member{v.Name, v.Value})
	}
	if env != nil {
		all = append(all, member{"env", env})
	}
	return all, nil
}

// Snippet returns a whole configuration that has the server only.
func (c *Client) Snippet(s Server) (string, error) {
	entry, err := c.entry(s)
	if err != nil {
		return "", err
	}
	if c.TOML {
		return tomlEntry(c.Root, s.Name, entry), nil
	}
	return jsonText([]member{{c.Root, []member{{s.Name, entry}}}}, "", "  ", "\n") + "\n", nil
}
