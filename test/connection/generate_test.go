package connection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// generator makes random conversations.
type generator struct {
	*rand.Rand
	next   int // the next id
	odd    []string
	modern bool // requests carry their protocol version
	burst  bool // other requests are sent at the same time
	held   []held
	asks   bool // the client can be asked
}

// held is a call of wait_thing that waits.
type held struct{ id, thing string }

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 15)), next: 1}
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// oneIn reports true once in n times.
func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// member is a member of a JSON object; without a name there is none.
type member struct{ name, value string }

// object writes an object. Rarely its members are in another order, one is there twice, or there are blanks or escapes.
func (g *generator) object(members ...member) string {
	if g.oneIn(8) {
		g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	blank := ""
	if g.oneIn(10) {
		blank = pick(g, " ", "\t", "  ")
	}
	var parts []string
	for _, m := range members {
		if m.name == "" {
			continue
		}
		name := m.name
		if g.oneIn(80) {
			name = fmt.Sprintf(`\u%04x`, name[0]) + name[1:]
		}
		part := blank + `"` + name + `":` + blank + m.value
		parts = append(parts, part)
		if g.oneIn(120) {
			parts = append(parts, part)
		}
		if g.oneIn(120) {
			parts = append(parts, `"`+name+`":`+pick(g, values...))
		}
	}
	return "{" + strings.Join(parts, ","+blank) + blank + "}"
}

// values are values of all types.
var values = []string{
	"null", "true", "false", "0", "1", "-1", "1.5", "1e2", "9007199254740993", "123456789012345678901234567890", `""`,
	`"x"`,
	`"ünï\ud83d\ude00"`, `"\ud800"`, `"\u0000"`, "\"\xff\"", "[]", "[1]", "{}", `{"a":1}`, `{"a":1,"a":2}`,
	`[{"b":[null]}]`,
}

// text writes a string, rarely with escapes.
func (g *generator) text(s string) string {
	if g.oneIn(40) && s != "" {
		i := g.IntN(len(s))
		return fmt.Sprintf(`"%s\u%04x%s"`, s[:i], s[i], s[i+1:])
	}
	if g.oneIn(40) {
		return `"` + strings.ReplaceAll(s, "/", `\/`) + `"`
	}
	return `"` + s + `"`
}

// freshID returns an id that no other request of the conversation has.
func (g *generator) freshID() string {
	g.next++
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf(`"s%d"`, g.next)
	case 1:
		return fmt.Sprintf(`"ü \"%d\\"`, g.next)
	case 2:
		return fmt.Sprintf("-%d", g.next)
	case 3:
		return fmt.Sprintf("%d", 1<<40+g.next)
	case 4:
		return fmt.Sprintf(`"%d"`, g.next)
	case 5:
		return fmt.Sprintf(`"<\u00e9/\/\n%d>"`, g.next)
	default:
		return fmt.Sprint(g.next)
	}
}

// oddID returns an id that few clients send, and that no other request of the conversation has: whether a request is
// answered before another one with its id comes is chance.
func (g *generator) oddID() string {
	g.next++
	id := g.anyOddID()
	if slices.Contains(g.odd, id) {
		return g.freshID()
	}
	g.odd = append(g.odd, id)
	return id
}

func (g *generator) anyOddID() string {
	return pick(
		g,
		"null",
		fmt.Sprintf("%d.5", g.next),
		fmt.Sprintf("%d.0", g.next),
		fmt.Sprintf("%de2", g.next),
		"true",
		"{}",
		"[]",
		"-0",
		`""`,
		fmt.Sprintf("90071992547409%d", 93+g.next),
		"12345678901234567890",
		"9223372036854775807",
		"9223372036854775808",
		"-9223372036854775808",
		"1e400",
		`"`+strings.Repeat("i", 500)+`"`,
		"\"\xfe\"",
		`"\ud800"`,
		"01",
	)
}

func (g *generator) id() string {
	if g.oneIn(25) {
		return g.oddID()
	}
	return g.freshID()
}

// meta writes the _meta of a request; "" is none.
func (g *generator) meta(progress string) string {
	var members []member
	if g.modern {
		version := pick(g, "2026-07-28", "2026-07-28", "2026-07-28", "2026-07-28", "2026-07-28", "2026-07-28", "2026-07-28",
			"2026-07-28", "2026-07-28", "2026-07-28", "2026-07-28", "2025-06-18", "2027-01-01", "x", "")
		members = append(members, member{"io.modelcontextprotocol/protocolVersion", g.text(version)})
		switch g.IntN(16) {
		case 0:
		case 1:
			members = append(members, member{"io.modelcontextprotocol/clientInfo", pick(g, values...)})
		default:
			members = append(members, member{"io.modelcontextprotocol/clientInfo", `{"name":"c","version":"1"}`})
		}
		switch g.IntN(16) {
		case 0:
		case 1:
			members = append(members, member{"io.modelcontextprotocol/clientCapabilities", pick(g, values...)})
		default:
			members = append(members, member{"io.modelcontextprotocol/clientCapabilities", g.capabilities()})
		}
		if g.oneIn(12) {
			members = append(members, member{"io.modelcontextprotocol/logLevel", pick(g, `"debug"`, `"x"`, "1", "null")})
		}
	}
	if progress != "" {
		members = append(members, member{"progressToken", progress})
	}
	if g.oneIn(12) {
		members = append(members, member{pick(g, "x", "com.example/trace", "progressToken", "ui"), pick(g, values...)})
	}
	if len(members) == 0 {
		if g.oneIn(30) {
			return pick(g, values...)
		}
		return ""
	}
	return g.object(members...)
}

func (g *generator) capabilities() string {
	if g.asks {
		return pick(g, `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, `{"elicitation":{},"roots":{"listChanged":true}}`)
	}
	return pick(g, `{}`, `{"roots":{}}`, `{"sampling":{},"x":1}`)
}

// request writes a request with an id; params may be "".
func (g *generator) request(id, method, params string) string {
	members := []member{{"jsonrpc", g.version()}, {"id", id}, {"method", g.text(method)}}
	if params != "" {
		members = append(members, member{"params", params})
	}
	if g.oneIn(60) {
		members = append(members, member{pick(g, "x", "Method", "ID", "result", "error", "Params"), pick(g, values...)})
	}
	return g.object(members...)
}

func (g *generator) notification(method, params string) string {
	members := []member{{"jsonrpc", g.version()}, {"method", g.text(method)}}
	if params != "" {
		members = append(members, member{"params", params})
	}
	return g.object(members...)
}

func (g *generator) version() string {
	if g.oneIn(150) {
		return pick(g, `"1.0"`, "2.0", "null", `"2.0 "`)
	}
	return g.text("2.0")
}

// params writes parameters with metadata.
func (g *generator) params(progress string, members ...member) string {
	if meta := g.meta(progress); meta != "" {
		members = append(members, member{"_meta", meta})
	}
	if g.oneIn(50) {
		members = append(members, member{pick(g, "x", "Name", "Arguments", "task"), pick(g, values...)})
	}
	return g.object(members...)
}

// callOf writes a call of a tool.
func (g *generator) callOf(id, tool, arguments, progress string) string {
	members := []member{{"name", g.text(tool)}}
	if arguments != "" {
		members = append(members, member{"arguments", arguments})
	}
	return g.request(id, "tools/call", g.params(progress, members...))
}

// operation writes the arguments of a call of an operation.
func (g *generator) operation(name, id string) string {
	return g.object(member{"operation", g.text(name)}, member{"params", g.object(member{"id", id})})
}

// operations are those that answer at once, each with its tool.
var operations = [][2]string{
	{
		"get_thing",
		"mcp_aql_read",
	}, {"get_thing", "mcp_aql_read"}, {"get_thing", "mcp_aql_read"}, {"fail_thing", "mcp_aql_execute"},
	{"panic_thing", "mcp_aql_execute"}, {"print_thing", "mcp_aql_read"}, {"introspect", "mcp_aql_read"},
	{"no_thing", "mcp_aql_read"}, {"get_thing", "mcp_aql_delete"}, {"delete_thing", "mcp_aql_delete"},
}

// call writes a call that ends at once.
func (g *generator) call() string {
	name, tool := "get_thing", "mcp_aql_read"
	if g.oneIn(2) {
		o := pick(g, operations...)
		name, tool = o[0], o[1]
	}
	arguments := g.operation(name, pick(g, `"a"`, `"a"`, `"ü"`, `"\u2028<"`, `""`, "null", "1", `"\ud800"`, "\"\xff\"",
		`"`+strings.Repeat("x", g.IntN(3000))+`"`))
	progress := ""
	switch g.IntN(40) {
	case 0:
		arguments = ""
	case 1:
		arguments = pick(g, values...)
	case 2:
		tool = pick(g, "echo", "nothing", "", "MCP_AQL_READ", "mcp_aql_read ", "ü")
	case 3:
		arguments = `{"operation":"get_thing","params":` + nested(g.IntN(40)) + "}"
	case 4:
		progress = pick(g, `"p"`, "1", "1.5", "null", "{}", "true")
	case 5:
		return g.request(g.id(), "tools/call", pick(g, values...))
	case 6:
		return g.request(g.id(), "tools/call", g.params("", member{"arguments", arguments}))
	case 7:
		return g.request(
			g.id(),
			"tools/call",
			g.params("", member{"name", pick(g, values...)}, member{"arguments", arguments}),
		)
	case 8:
		tool = "echo"
	}
	return g.callOf(g.id(), tool, arguments, progress)
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// other writes another message than a call.
func (g *generator) other() string {
	switch g.IntN(20) {
	case 0, 1:
		return g.request(g.id(), "ping", pick(g, "", "{}", "null", g.params("")))
	case 2, 3:
		return g.request(
			g.id(),
			"tools/list",
			pick(g, "", "{}", g.params(""), g.params("", member{"cursor", pick(g, values...)})),
		)
	case 4:
		return g.request(g.id(), pick(g, "prompts/list", "resources/list", "resources/templates/list"), g.params(""))
	case 5:
		return g.request(g.id(), "prompts/get", g.params("", member{"name", pick(g, `"summary"`, `"x"`, "1")}))
	case 6:
		return g.request(g.id(), "resources/read", g.params("", member{"uri", pick(g, `"things://all"`, `"x"`, "1")}))
	case 7:
		return g.request(g.id(), "logging/setLevel", g.params("", member{"level", pick(g, `"debug"`, `"x"`, "1")}))
	case 8:
		return g.request(g.id(), "completion/complete", g.params("", member{"ref", `{"type":"ref/prompt","name":"summary"}`},
			member{"argument", `{"name":"a","value":"b"}`}))
	case 9:
		return g.request(
			g.id(),
			pick(g, "resources/subscribe", "resources/unsubscribe"),
			g.params("", member{"uri", `"things://all"`}),
		)
	case 10:
		return g.request(
			g.id(),
			pick(g, "nothing", "", "tools/Call", "tools/call ", "rpc.discover", "notifications/initialized",
				"elicitation/create", "tasks/get"),
			pick(g, "", g.params("")),
		)
	case 11:
		return g.request(g.id(), "server/discover", g.params(""))
	case 12:
		return g.notification(pick(g, "notifications/progress", "notifications/roots/list_changed", "notifications/message",
			"notifications/nothing", "tools/call", "tools/list", "notifications/initialized"), pick(g, "", "{}", g.params("")))
	case 13:
		return g.notification(
			"notifications/cancelled",
			g.params("", member{"requestId", pick(g, "12345", `"none"`, "null", "{}")}),
		)
	case 14:
		return g.object(
			member{"jsonrpc", g.version()},
			member{"id", g.id()},
			member{pick(g, "result", "error"), pick(g, values...)},
		)
	case 15:
		return g.initialize()
	case 16:
		return g.batch()
	case 17:
		return g.request(g.id(), "tools/list", nested(pick(g, 400, 990, 996, 997, 998, 999, 1000, 1001, 1002, 5000)))
	case 18:
		return g.callOf(g.id(), "mcp_aql_read", g.operation("get_thing",
			`"`+strings.Repeat("long ", pick(g, 12_000, 13_100, 13_107, 30_000, maxLine/5-100, maxLine/5))+`"`), "")
	default:
		return pick(
			g,
			"",
			" ",
			"null",
			"{}",
			"[]",
			"1",
			`"x"`,
			"{",
			"}",
			"nothing",
			"\xff",
			"\x00",
			"{}{}",
			`{"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":7}`,
			`{"jsonrpc":"2.0","method":null,"id":8}`,
			`[{"jsonrpc":"2.0","id":9,"method":"ping"}`,
			"\xef\xbb\xbf{}",
		)
	}
}

func (g *generator) batch() string {
	members := make([]string, g.IntN(4))
	for i := range members {
		members[i] = pick(
			g,
			g.call(),
			g.request(g.id(), "ping", ""),
			g.notification("notifications/initialized", ""),
			"1",
			"{}",
		)
	}
	return "[" + strings.Join(members, ",") + "]"
}

func (g *generator) initialize() string {
	version := pick(g, `"2024-11-05"`, `"2025-03-26"`, `"2025-06-18"`, `"2025-11-25"`, `"2025-06-18"`, `"2025-11-25"`)
	if g.oneIn(10) {
		version = pick(g, `"2026-07-28"`, `"1.0"`, "null", "1")
	}
	return g.request(g.freshID(), "initialize", g.object(member{"protocolVersion", version},
		member{"capabilities", g.capabilities()}, member{"clientInfo", `{"name":"c","version":"1"}`}))
}

// mutate changes a byte or a part of a message.
func (g *generator) mutate(message string) string {
	if message == "" {
		return message
	}
	i := g.IntN(len(message))
	j := min(len(message), i+1+g.IntN(4))
	switch g.IntN(6) {
	case 0:
		return message[:i]
	case 1:
		return message[:i] + message[j:]
	case 2:
		return message[:i] + string(byte(g.IntN(256))) + message[i+1:]
	case 3:
		return message[:j] + message[i:]
	case 4:
		return message[:i] + pick(
			g,
			"{",
			"}",
			"[",
			"]",
			",",
			":",
			`"`,
			`\`,
			" ",
			"\t",
			"\n",
			"\r",
			"0",
			"null",
			"\x00",
			"\xff",
		) + message[i:]
	default:
		return message + pick(g, " ", "\t", "\r", " \t ", "\r\r", "{}", "x", ",", "\x00", "\u00a0")
	}
}

// message writes any message that needs no other.
func (g *generator) message() string {
	m := g.call()
	if g.oneIn(3) {
		m = g.other()
	}
	if g.oneIn(12) {
		m = g.mutate(m)
	}
	return m
}

// onStdio makes a conversation over stdio.
func (g *generator) onStdio() conversation {
	g.modern = g.oneIn(2)
	g.asks = g.oneIn(2)
	c := conversation{elicit: g.oneIn(3)}
	send := func(lines ...string) {
		s := step{lines: lines}
		if g.oneIn(8) {
			s.pieces = 2 + g.IntN(6)
		}
		c.steps = append(c.steps, s)
	}
	if !g.modern && !g.oneIn(12) || g.oneIn(12) {
		first, second := g.initialize(), g.notification("notifications/initialized", pick(g, "", "{}"))
		switch g.IntN(6) {
		case 0:
			send(first, second, g.call()) // without waiting
		case 1:
			send(first)
		default:
			send(first)
			send(second)
		}
	}
	for range 1 + g.IntN(8) {
		switch g.IntN(12) {
		case 0, 1: // several calls at once
			burst := make([]string, 1+g.IntN(6))
			for i := range burst {
				burst[i] = g.call()
			}
			send(burst...)
		case 2: // a call that waits, and what happens to it
			thing := fmt.Sprintf("w%d", g.next)
			h := held{g.freshID(), thing}
			g.held = append(g.held, h)
			send(g.callOf(h.id, "mcp_aql_execute", g.operation("wait_thing", `"`+thing+`"`), pick(g, "", "", `"t"`)))
		case 3:
			if len(g.held) > 0 {
				h := pick(g, g.held...)
				switch g.IntN(5) {
				case 0:
					c.steps = append(c.steps, step{release: h.thing})
				case 1: // another request with its id
					send(pick(g, g.callOf(h.id, "mcp_aql_read", g.operation("get_thing", `"a"`), ""), g.request(h.id, "ping", "")))
				default:
					id := h.id
					if g.oneIn(8) {
						// Not 3.0 for 3, which is no id: the SDK rounds it, and ours does not where it answers the call.
						id = pick(g, strings.Trim(id, `"`), `"`+strings.Trim(id, `"`)+`"`)
					}
					send(g.notification("notifications/cancelled", g.params("", member{"requestId", id}, member{"reason", `"r"`})))
				}
			}
		case 4:
			send(g.callOf(g.freshID(), "mcp_aql_execute", g.operation("report_thing", `"r"`),
				pick(g, `"p"`, "7", "1.5", `"ü"`, "null", "")))
		case 5: // a question to the person at the client
			if g.oneIn(2) {
				send(g.callOf(g.freshID(), "ask", "{}", ""))
			} else {
				send(g.callOf(g.freshID(), "mcp_aql_delete", g.operation("delete_thing", `"d"`), ""))
			}
			c.steps = append(c.steps, step{answer: pick(g, `{"action":"accept","content":{"approve":true}}`,
				`{"action":"decline"}`, `{"action":"accept"}`, `{"action":"x"}`, `[]`)})
		case 6:
			g.modern = g.modern != g.oneIn(4) // a client of both eras
			send(g.message())
		case 7:
			if g.oneIn(20) {
				c.steps = append(c.steps, step{wait: time.Hour})
			}
		default:
			send(g.message())
		}
	}
	return c
}
