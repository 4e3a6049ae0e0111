package serve

import (
	"cmp"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// setting is a flag of an adapter, with its default, its help, and the environment variable that counts if the flag is
// not given. Flags, help and the search for misspelt names use the table.
type setting struct {
	flag, standard, help, env string
	isSwitch                  bool
}

var table = []setting{
	{flag: "transport", standard: "stdio", help: "`stdio` or http"},
	{
		flag: "addr", standard: "127.0.0.1:8080",
		help: "`address` for HTTP: host:port, or unix:PATH for a Unix socket; MCP is served below /mcp",
	},
	{
		flag: "drain", standard: "0s", env: "MCP_AQL_DRAIN",
		help: "`time`, such as 5s, for which HTTP still serves calls when the process is to end, while /readyz answers 503 " +
			"and has load balancers send no more",
	},
	{
		flag: "mode", standard: "semantic", env: "MCP_AQL_ENDPOINT_MODE",
		help: "`mode`: semantic (a tool for each endpoint family), single (one tool), all, or discrete (a tool for each " +
			"operation)",
	},
	{
		flag: "profile", standard: "", env: "MCP_AQL_ENDPOINT_PROFILE",
		help: "`profile`: the endpoint families: crude, crude_authorize, semantic, or one of the service's own; " +
			"default: crude without families that are empty",
	},
	{flag: "prefix", standard: "", env: "MCP_AQL_TOOL_PREFIX", help: "`prefix` of the tool names, such as github_"},
	{
		flag: "read-only", standard: "false", env: "MCP_AQL_READ_ONLY", isSwitch: true,
		help: "have only the operations of the category READ",
	},
	{
		flag: "no-destructive", standard: "false", env: "MCP_AQL_NO_DESTRUCTIVE", isSwitch: true,
		help: "have no operations of danger level destructive or above, and no EXECUTE operation that states no level",
	},
	{
		flag: "operations", standard: "", env: "MCP_AQL_OPERATIONS",
		help: "have only the operations that one of these `patterns` matches, and none after !, such as get_*,!get_key",
	},
	{
		flag: "state", standard: memory, env: "MCP_AQL_STATE",
		help: "`where` confirmations and counters live: memory, or what the service has a store for: " +
			"a file, redis://…, postgres://…",
	},
	{
		flag: "state-key", standard: "", env: "MCP_AQL_STATE_KEY",
		help: "`file` with a secret that encrypts the state, so that who has that reads and confirms nothing; " +
			"after it, with commas, files with the secrets before",
	},
	{
		flag: "policy", standard: "", env: "MCP_AQL_POLICY",
		help: "`file` with rules about who may do what; it is read again when it changes",
	},
	{
		flag: "human-only", standard: "false", env: "MCP_AQL_HUMAN_ONLY", isSwitch: true,
		help: "what requires confirmation needs a person: the client asks its user, where the service lets it and believes " +
			"it, or an operator approves it where the service has the subcommand operator; no agent is given a token",
	},
	{
		flag: "console", standard: "", env: "MCP_AQL_CONSOLE",
		help: "`address`, such as 127.0.0.1:9090, where people decide in a browser about what waits for them; one that " +
			"other machines reach takes -console-cert; elsewhere: another process with this state serves the console, " +
			"which shows the calls of this one, too",
	},
	{
		flag: "console-cert", standard: "", env: "MCP_AQL_CONSOLE_CERT",
		help: "`file` with the certificate by which -console speaks HTTPS, then also at an address that other machines " +
			"reach; it is read again when it changes",
	},
	{
		flag: "console-key", standard: "", env: "MCP_AQL_CONSOLE_KEY",
		help: "`file` with the key of the certificate of -console-cert",
	},
	{
		flag: "audit", standard: "", env: "MCP_AQL_AUDIT",
		help: "`file` that keeps what was asked for, allowed and denied; aql-tag audit verify checks it",
	},
	{
		flag: "audit-key", standard: "", env: "MCP_AQL_AUDIT_KEY",
		help: "`file` with a secret that the file of -audit is written with, so that who can change it cannot do so unseen",
	},
	{
		flag: "metrics", standard: "", env: "MCP_AQL_METRICS",
		help: "`address` at which Prometheus reads metrics, such as 127.0.0.1:9464, below /metrics, or same: the one of " +
			"MCP; default: nowhere",
	},
	{
		flag: "otel", standard: "false", env: "MCP_AQL_OTEL", isSwitch: true,
		help: "send traces and metrics as the environment variables of OpenTelemetry say, such as " +
			"OTEL_EXPORTER_OTLP_ENDPOINT",
	},
	{
		flag: "otel-trust-sampling", standard: "false", env: "MCP_AQL_OTEL_TRUST_SAMPLING", isSwitch: true,
		help: "sample the traces that clients name where they say so, and only there",
	},
	{
		flag: "notify", standard: "", env: "MCP_AQL_NOTIFY",
		help: "`channels` on which people are told that something waits for them, with commas between them, as far as the " +
			"service has them: desktop, ntfy=https://ntfy.sh/TOPIC, webhook=https://…; ntfy=@FILE reads the address from a file",
	},
	{
		flag: "notify-key", standard: "", env: "MCP_AQL_NOTIFY_KEY",
		help: "`files` with the secrets of channels: webhook=FILE has the key that signs, ntfy=FILE the token of who " +
			"publishes; with commas between them, webhook=NEW,webhook=OLD while a receiver changes keys",
	},
	{
		flag: "notify-link", standard: "", env: "MCP_AQL_NOTIFY_LINK",
		help: "`address` of the console where people decide, for the notices of -notify; without it that of -console, " +
			"which only browsers of this machine can open",
	},
	{
		flag: "notify-details", standard: "false", env: "MCP_AQL_NOTIFY_DETAILS", isSwitch: true,
		help: "have the notices of -notify that leave this machine say what is asked, with the parameters that are not " +
			"sensitive",
	},
	{flag: "log-level", standard: "info", help: "`level`: debug, info, warn or error; the log goes to standard error"},
}

// Flags adds the adapter's flags and usage text to a set.
func Flags(set *flag.FlagSet) {
	for _, s := range table {
		if s.isSwitch {
			set.Bool(s.flag, s.standard == "true", s.help)
		} else {
			set.String(s.flag, s.standard, s.help)
		}
	}
	set.Bool("version", false, "print the version and exit")
	set.Usage = func() {
		w := set.Output()
		fmt.Fprintf(w, "Usage: %s [flags]\n\nServes the Model Context Protocol.\n\nFlags:\n", set.Name())
		set.PrintDefaults()
		fmt.Fprint(w, "\nEnvironment, where the flag is not given:\n")
		for _, s := range table {
			if s.env != "" {
				fmt.Fprintf(w, "  %-26s -%s\n", s.env, s.flag)
			}
		}
	}
}

// settings are the values in force.
type settings struct {
	transport, addr, mode, profile, prefix, state, policy, audit, auditKey string
	stateKey                                                               string // files, with commas between them
	metrics                                                                string
	console                                                                string // an address, or setup.Elsewhere
	consoleCert, consoleKey                                                string // files
	notify, notifyKey, notifyLink                                          string
	readOnly, noDestructive, humanOnly, notifyDetails                      bool
	otel, trustSampling                                                    bool
	operations                                                             []string
	drain                                                                  time.Duration
	level                                                                  slog.Level
	given                                                                  map[string]bool // set by flag or environment

	reloads *reloads // of the policy, for the console; nil: nobody looks
}

// settings merges flags and environment. A given flag overrides the environment, with a warning; the environment
// overrides the default of a flag.
func (e environment) settings(set *flag.FlagSet) (settings, []string, error) {
	explicit := make(map[string]bool)
	set.Visit(func(f *flag.Flag) { explicit[f.Name] = true })
	values := make(map[string]string)
	given := make(map[string]bool)
	var warnings []string
	for _, s := range table {
		value := set.Lookup(s.flag).Value.String()
		given[s.flag] = explicit[s.flag]
		if fromEnv, ok := e.lookup(s.env); s.env != "" && ok {
			switch {
			case !explicit[s.flag]:
				value, given[s.flag] = fromEnv, true
			case !s.same(fromEnv, value):
				warnings = append(warnings, fmt.Sprintf("-%s %s wins over %s=%s", s.flag, value, s.env, fromEnv))
			}
		}
		values[s.flag] = value
	}
	warnings = append(warnings, misspelt(e.environ)...)

	result := settings{
		transport: values["transport"], addr: values["addr"],
		mode: values["mode"], profile: values["profile"], prefix: values["prefix"],
		state: values["state"], stateKey: values["state-key"], policy: values["policy"],
		audit: values["audit"], auditKey: values["audit-key"], metrics: values["metrics"], console: values["console"],
		consoleCert: values["console-cert"], consoleKey: values["console-key"],
		notify: values["notify"], notifyKey: values["notify-key"], notifyLink: values["notify-link"], given: given,
	}
	if err := result.restrict(values); err != nil {
		return result, nil, err
	}
	if result.transport != "stdio" && result.transport != "http" {
		return result, nil, fmt.Errorf("-transport %s: it is stdio or http", result.transport)
	}
	var err error
	if result.drain, err = time.ParseDuration(values["drain"]); err != nil || result.drain < 0 {
		return result, nil, fmt.Errorf("-drain %s: it is a time such as 5s", values["drain"])
	}
	if err := result.level.UnmarshalText([]byte(values["log-level"])); err != nil {
		return result, nil, fmt.Errorf("-log-level %s: it is debug, info, warn or error", values["log-level"])
	}
	return result, warnings, nil
}

// same reports whether two values of the setting mean the same.
func (s setting) same(one, other string) bool {
	if !s.isSwitch {
		return one == other
	}
	first, err := strconv.ParseBool(one)
	second, otherErr := strconv.ParseBool(other)
	return err == nil && otherErr == nil && first == second
}

// restrict reads the switches, and the values that switch operations off.
func (s *settings) restrict(values map[string]string) error {
	for _, setting := range table {
		if _, err := strconv.ParseBool(values[setting.flag]); setting.isSwitch && err != nil {
			return fmt.Errorf("-%s, or %s: %q is neither true nor false", setting.flag, setting.env, values[setting.flag])
		}
	}
	s.readOnly, _ = strconv.ParseBool(values["read-only"])
	s.humanOnly, _ = strconv.ParseBool(values["human-only"])
	s.notifyDetails, _ = strconv.ParseBool(values["notify-details"])
	s.noDestructive, _ = strconv.ParseBool(values["no-destructive"])
	s.otel, _ = strconv.ParseBool(values["otel"])
	s.trustSampling, _ = strconv.ParseBool(values["otel-trust-sampling"])
	if s.given["operations"] {
		for pattern := range strings.SplitSeq(values["operations"], ",") {
			s.operations = append(s.operations, strings.TrimSpace(pattern))
		}
	}
	return nil
}

// misspelt returns warnings about variables that were probably meant for the adapter and are not read.
func misspelt(environ []string) []string {
	known := []string{"MCP_AQL_SAFETY_LOOP"}
	for _, s := range table {
		if s.env != "" {
			known = append(known, s.env)
		}
	}
	var warnings []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "MCP_AQL_") && !slices.Contains(known, name) {
			warnings = append(warnings, fmt.Sprintf("environment variable %s is not known; known are %s",
				name, strings.Join(known[1:], ", ")))
		}
	}
	return warnings
}

// apply returns the options of the service, overridden by the settings.
func (s settings) apply(options Options, log *slog.Logger) aql.Options {
	adapter := options.Adapter
	adapter.Name, adapter.Version = options.Name, options.Version
	adapter.Description = cmp.Or(options.Description, adapter.Description)
	if s.given["mode"] || adapter.Mode == "" {
		adapter.Mode = aql.Mode(s.mode)
	}
	if s.given["profile"] {
		adapter.Profile = aql.ProfileName(s.profile)
	}
	if s.given["prefix"] || adapter.Prefix == "" {
		adapter.Prefix = s.prefix
	}
	available := &adapter.Available
	if s.given["read-only"] || s.given["no-destructive"] || s.given["operations"] {
		*available = available.And(aql.Available{
			ReadOnly: s.readOnly, NoDestructive: s.noDestructive, Operations: s.operations,
		})
	}
	if s.humanOnly { // a service that demands it is not overridden
		adapter.Confirmation.HumanOnly = true
	}
	switch {
	case options.Operator == nil, adapter.Confirmation.Inbox != nil:
	case adapter.State != nil:
		adapter.Confirmation.Inbox = options.Operator.Inbox
	case adapter.Confirmation.HumanOnly:
		log.Warn("The subcommand operator cannot see what waits for a person, because the state is in memory: " +
			"set -state. Until then only clients that ask their user can confirm")
	}
	loop, ok := adapter.Loop.(interface{ WithConsole() aql.SafetyLoop })
	if ok && s.console != "" { // where people see codes, too
		adapter.Loop = loop.WithConsole()
	}
	if adapter.Logger == nil {
		adapter.Logger = log
	}
	return adapter
}
