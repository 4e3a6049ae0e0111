package words

// starts is where the text of an error starts: with the message or a line of it, or after what wraps it.
const starts = `(?:^|: |[("'])`

// kinds are the leaks. They must leave alone what people write: a word of English is a leak only in the surroundings
// that programs give it.
var kinds = []kind{
	{
		what: "a stack trace",
		marks: []string{
			"goroutine", "panic serving", "[recovered", "Exception in thread ", "nd of inner exception stack trace",
			"tacktrace:", "Traceback (most recent call last)", "(elixir ", "(stdlib ", "stack backtrace",
			"RUST_BACKTRACE", "terminate called after throwing", "core dumped", "AddressSanitizer",
			"double free or corruption",
		},
		patterns: []pattern{
			{"panic: ", `(?:^|: |recovered |serving \S+ )panic: `},
			{"panicked", `\bpanicked(?:: | at )`},
			{"fatal error: ", `(?:^|: )fatal error: `},
			{"0x", `\+0x[0-9a-f]+\b|(?:\.\w+|\bpanic)\(\{?0x[0-9a-f]+|\b(?:pc|sp|fp)=0x[0-9a-f]+`},
			{"SIG", `\bSIG(?:SEGV|ABRT|BUS|FPE|ILL|QUIT)\b`},
			{"exit status ", `^exit status \d+$`},
			{"signal: ", starts + `signal: (?:killed|aborted|interrupt|segmentation fault|terminated|hangup)`},
			// JavaScript, the JVM and .NET
			{"at ", `\bat .{0,160}\((?:[\w$]+\.(?:java|kt|scala|groovy|clj):\d+|Native Method|Unknown Source)\)`},
			{"at ", `\bat .{0,160}\((?:<anonymous>|native|(?:node|file|webpack[\w-]*):[^)]*|[^()\s]*:\d+:\d+)\)`},
			{"at ", `\bat (?:async )?(?:(?:file://)?(?:/[\w.@-]+)+\.\w+|node:[\w/]+):\d+:\d+`},
			{"at ", `^\s+at [\w$]+(?:\.[\w$<>\x60+]+)+\(.*\)`},
			{"Caused by: ", `^Caused by: [a-z]\w*(?:\.\w+)+`},
			{" more", `^\s*\.\.\. \d+ (?:common frames omitted|more)$`},
			{"tack trace", `(?:^|[\s(])[Ss]tack trace:(?:\s|$)|--- End of stack trace`},
			// Python, PHP, Perl, Ruby, Elixir, Rust, C
			{", line ", `File "(?:[^"]+\.py[cx]?|<\w+>)", line \d+`},
			{" on line ", `\bin \S+\.(?:php|inc|phtml|module) on line \d+`},
			{" line ", `\bat \S+\.(?:p[lm]|t|cgi) line \d+|\bin [^\n]*[/\\][^\n:]+:line \d+`},
			{"#", `^\s*#\d+ +(?:0x[0-9a-f]+ |\S+\(\d+\): |\{main\}|\S+ \(.*\) at )`},
			{":in ", `:\d+:in [\x60']`},
			{"** (", `\*\* \([A-Z][\w.]+\) `},
			{"egmentation ", `\b[Ss]egmentation (?:fault|violation)\b`},
		},
	},
	{
		what: "a source file with a line",
		patterns: []pattern{
			{".go:", `\.go:\d`},
			{"js:", `\.[mc]?js:\d`},
			{"ts:", `\.ts:\d`},
			{"sx:", `\.[jt]sx:\d`},
			{".", `[\w\]]\.(?:java|kt|scala|groovy|rb|php|cpp|hpp|exs|erl|lua|swift|dart|vue|sql|tmpl|gotmpl):\d`},
			{".", `[\w\]]\.[chm]:\d+(?:$|[\s:,;)])`},
			// endings that are top-level domains: the number can be a port
			{".", `\w\.(?:py|rs|cs|pl|pm|cc|hs|ml|sh|ex|zig):\d+:\d`},
			{".", `(?:^|[^/\w.:-])(?:[\w.-]*/)+[\w-]+\.(?:py|rs|cs|pl|pm|cc|hs|ml|sh|ex|zig):\d`},
			{".", `(?:^|[\s(])[\w-]+\.(?:py|rs|cs|pl|pm|cc|hs|ml|sh|ex):\d+: `},
		},
	},
	{
		what: "the text of a Go error or panic",
		marks: []string{
			"runtime error", "invalid memory address", "nil pointer", "assignment to entry in nil map",
			"integer divide by zero", "send on closed channel", "unhashable type", "comparing uncomparable",
			"concurrent map ", "unlock of unlocked", "WaitGroup ",
			"request Content-Type isn't", "interface conversion: ", "cannot unmarshal ",
			"Go struct field ", "Go value of type ", "nexpected end of JSON input", "error parsing regexp",
			"illegal base64 data at input byte", "syntax error in pattern",
			"transaction has already been committed or rolled back", "<nil>", "io: read/write on closed pipe",
		},
		patterns: []pattern{
			{" out of range", `\b(?:index|slice bounds) out of range \[|: (?:len|cap|value) out of range$`},
			{"close of ", `\bclose of (?:nil|closed) channel\b`},
			{"make", `\bmake(?:slice|chan): `},
			{"-byte limit", `stack exceeds \d+-byte limit`},
			{"invalid character ", `\binvalid character .{1,12} (?:looking for|after|in (?:string|numeric|literal|` +
				`\\))`},
			{"context ", `\bcontext (?:deadline exceeded|canceled)\b`},
			{"invalid UUID ", `\binvalid UUID (?:length|format|prefix)`},
			{"EOF", `(?:^|: )(?:unexpected )?EOF$|\bunexpected EOF\b`},
			{"parsing ", `\bparsing "[^"]*": (?:invalid (?:syntax|base|bit)|value out|extra text)|\bparsing time "`},
			{"%!", `%!(?:[a-zA-Z]|\[?\d*\]?[a-z])?\(\w+`},
			{": ", starts + `(?:` + packages + `): \S`},
			{": ", starts + `(?:archive|compress|container|crypto|database|debug|embed|encoding|go|hash|html|image|` +
				`index|internal|io|log|math|mime|net|os|runtime|sync|testing|text|time|unicode)/[a-z0-9/]+: \S`},
			// packages whose names are words, too: only with what they say
			{"json: ", starts + `json: (?:cannot |unsupported (?:type|value)|invalid (?:use|number|char)|` +
				`unknown field)`},
			{"json: ", starts + `json: (?:error calling|Unmarshal\()`},
			{"ml: ", starts + `(?:yaml|toml|xml): (?:unmarshal errors|line \d+|cannot |unsupported type|invalid |` +
				`unknown type)`},
			{"time: ", starts + `time: (?:invalid (?:duration|location name|number)|missing unit in duration)`},
			{"time: ", starts + `time: (?:unknown unit "|bad \[0-9\]|(?:Stop|Reset) called|missing Location)`},
			{"http: ", starts + `http: (?:[A-Z]\w+[ .]|'='|panic |request (?:body too|method or|too large)|` +
				`response\.)`},
			{"http: ", starts + `http: (?:blank cookie|named cookie|number of cookies|partitioned cookies|nil |` +
				`no [A-Z]|no such)`},
			{"http: ", starts + `http: invalid (?:[A-Z]|byte|cookie|header|method|or unsafe|pattern|trailer|read)`},
			{"http: ", starts + `http: (?:p(?:ersist|utIdle)Conn|server (?:closed|gave)|superfluous|suspiciously|` +
				`wrote more)`},
			{"http: ", starts + `http: (?:concurrent|connection has been|idle connection|multi\w+|read on closed|` +
				`unexpected EOF)`},
			{"mail: ", starts + `mail: (?:bad character|comment does|double dot|empty (?:group|quoted)|` +
				`expected (?:comma|single))`},
			{"mail: ", starts + `mail: (?:group with|header |invalid (?:string|utf-8|IP)|(?:lead|trail)ing dot|` +
				`misformatted)`},
			{"mail: ", starts + `mail: (?:missing (?:'@'|@|word in)|no (?:address$|addr-spec|angle-addr|domain in)|` +
				`unclosed)`},
			{"exec: ", starts + `exec: (?:"|Cmd |Std|Wait|already started|command with|environment|no command|` +
				`not started)`},
			{"context: ", starts + `context: internal`},
			{"driver: ", starts + `driver: (?:bad connection|remove argument|skip fast)`},
			{"errors: ", starts + `errors: \*?target`},
			{"binary: ", starts + `binary: (?:end of buffer|varint)`},
			{"os: ", starts + `os: (?:process |DirFS|invalid use|unsupported signal|unexpected)`},
			{"sync: ", starts + `sync: (?:negative|inconsistent|R?Unlock|unlock)`},
			{"flag", starts + `(?:flag: help requested|flag (?:provided but not defined|needs an argument): -)`},
			{"image: ", starts + `image: (?:unknown format|New)`},
			{"user: ", starts + `user: (?:unknown user(?:id)? |[Ll]ookup|Current|list groups)`},
			{"template: ", starts + `template: (?:\S+:\d+:|no (?:files|template)|pattern matches|` +
				`\S+ is an incomplete)`},
			{"zip: ", starts + `zip: (?:not a valid|checksum|unsupported|insecure)`},
			{"g: ", starts + `(?:png|jpeg): (?:invalid format|unsupported|not enough|bad |too much)`},
			{"gif: ", starts + `gif: (?:can't|not enough|too much|reading|bad |frame|no )`},
			{"mime: ", starts + `mime: (?:duplicate param|expected |extension|invalid |no media type|` +
				`unexpected content)`},
			{"s: negative", starts + `(?:strings|bytes): negative`},
		},
	},
	{
		what:  "the name of a Go type or function",
		marks: []string{"assignable to type ", "/pkg/mod/"},
		patterns: []pattern{
			{".(", `\w\.\(\*?[A-Za-z]\w*\)`},
			{"*", `(?:^|[^\w*])\*{1,2}[a-z]\w*\.[A-Z]\w*`},
			{"[]", `\[\](?:byte|string|rune|bool|any|u?int\d*|float\d+|interface|struct|\*?[a-z]\w*\.[A-Z])`},
			{"map[", `\bmap\[(?:string|u?int\d*|interface|any|\w+\.\w+)\]|\bmap\[\w+:[^\]]*\]$`},
			{"interface", `\binterface ?\{`},
			{"struct", `\bstruct ?\{`},
			{"chan ", `\bchan (?:u?int\d*|string|bool|struct|error|[a-z]+\.[A-Z])`},
			{"func(", `\bfunc\((?:\)$|\) [\w(*]|\w+, |\*|\w*\.[A-Z]|\w+ [\w.*\[\]]+[,)]|(?:string|int|error)\))`},
			{"{", `\b[a-z]\w*\.[A-Z]\w*\{|&\{[\w"(<{&\[]`},
			{"type ", `\b(?:of|for|to|as|from|unexpected|unknown|unsupported|Go) type \*?[a-z]\w*\.[A-Z]\w*`},
			{"convert", `\b(?:convert|converting) .{1,60} (?:to|into) (?:type )?\*?[a-z]\w*\.[A-Z]\w*\b`},
			{" is not ", `\b[a-z]\w*\.[A-Z]\w* is not \*?[a-z]\w*\.[A-Z]\w*`},
			{".func", `\w\.func\d+\b`},
			{"(...)", `\.\w+\(\.\.\.\)`},
			{"main.", `\bmain\.(?:\w+\(|main\b|init\b)`},
			{"time.", `\btime\.(?:Time|Duration|Month|Weekday|Location)\b`},
			{"sql.", `\bsql\.(?:Null\w+|DB|Tx|Rows?|Err\w+|Raw\w+|Scanner)\b`},
			{"http.", `\bhttp\.(?:Request|Response|ResponseWriter|Client|Server|Header|Handler\w*|Err\w+)\b`},
			{"json.", `\bjson\.(?:Number|RawMessage|Marshal|Unmarshal|Decoder|Encoder|\w+Error)\b`},
			{"reflect.", `\breflect\.(?:Value|Type|Kind|Method|Struct\w+|Set|Copy|Append|flag|\w+Of)\b`},
			{"context.", `\bcontext\.(?:Context|CancelFunc|\w+Ctx|deadlineExceededError|DeadlineExceeded|Canceled)\b`},
			{"strconv.", `\bstrconv\.\w+`},
			{"sync.", `\bsync\.(?:\(|Mutex|RWMutex|WaitGroup|Once|Pool|Map|fatal)`},
			{"os.", `\bos\.(?:File|PathError|Err\w+|SyscallError|Open\w*|Read\w+)\b`},
			{"fs.", `\bfs\.(?:PathError|FileInfo|FileMode|Err[A-Z]\w+)\b`},
			{"net.", `\bnet\.(?:OpError|IP|IPNet|Conn|DNSError|Err[A-Z]\w+|Listen\w*|Dial\w*|Lookup\w+|ParseIP)\b`},
			{"url.", `\burl\.(?:URL|Values|Error|Parse\w*)\b`},
			{"big.", `\bbig\.(?:Int|Float|Rat)\b`},
			{"fmt.", `\bfmt\.(?:wrapErrors?|Stringer|\w*print\w*|Errorf|Sscan\w*)\b`},
			{"errors.", `\berrors\.(?:errorString|joinError)\b`},
			{"runtime.", `\bruntime\.(?:Error|goexit|gopanic|panic\w+|main|\w+Error)\b`},
			{"bufio.", `\bbufio\.\w+`},
			{"binary.", `\bbinary\.(?:Read|Write)\b`},
			{"bytes.", `\bbytes\.(?:Buffer|Reader|Repeat|Err\w+)\b`},
			{"strings.", `\bstrings\.(?:Builder|Reader|Repeat|NewReplacer)\b`},
			{"aql.", `\baql\.(?:Error|Patch|Optional|Fields|New|Options|Registry)\b`},
			{"uuid.", `\buuid\.(?:UUID|Parse)\b`},
			{"driver.", `\bdriver\.(?:Value|Valuer|ErrBadConn|Conn)\b`},
			{"template.", `\btemplate\.(?:Execute|Must|Template|HTML)\b`},
			{"pg", `\bpg(?:conn|type|xpool|proto3)\.\w+`},
			{"/internal/", `(?:^|[\s("'])(?:[\w.-]+/)+internal/[\w/]+(?:$|[\s:;,.)"'])`},
			{"@v", `\w\.\w+/[\w./!-]+@v\d+\.\d+\.\d+`},
			{"/", `(?:^|[^/\w])(?:github\.com|gitlab\.com|golang\.org|gopkg\.in|modernc\.org|` +
				`go\.uber\.org)/[\w./-]+\.(?:\(\*?\w+\)|[A-Za-z]\w*\()`},
		},
	},
	{
		what: "an address in memory",
		patterns: []pattern{
			{"0xc0", `\b0xc0[0-9a-f]{8}\b`},
			{"0x14000", `\b0x14000[0-9a-f]{6}\b`},
			{"0x", `\b0x(?:[0-9a-f]{11,12}|0000[0-9a-fA-F]{12}|ffff[0-9a-f]{12})\b`},
			{"0x", `\bobject at 0x|\b(?:addr|address|pointer|ptr)[ =:]+0x[0-9a-fA-F]{8}|[@&*]0x[0-9a-f]{6}`},
			{"0x", `(?i)\baccess violation\b.*0x[0-9a-f]+|\bHRESULT: 0x[0-9a-f]{8}`},
			{"@", `(?:^|[\s.$])[A-Z]\w*(?:\$\w+)*;?@[0-9a-f]{5,8}(?:$|[\s,;)\]'"])|\[L[\w.]+;@`},
		},
	},
	{
		what: "the text of a database error",
		marks: []string{
			"SQLSTATE", "SQLITE_", "SQL logic error", "n error in your SQL syntax", "psycopg", "constraint failed",
			"constraint fails", "nvalid input syntax for ", "unable to open database file", "readonly database",
			"no rows in result set", "missing argument with index ", "number of field descriptions must equal",
			"BUSYKEY ", "could not serialize access", "current transaction is aborted",
			"start a transaction within a transaction", "terminating connection due to", "canceling statement due to",
			"remaining connection slots", "Access denied for user '", "Unknown column '",
			"password authentication failed for user", "pg_hba.conf", "null value in column \"", "WRONGTYPE ",
			"NOAUTH ", "WRONGPASS ", "NOSCRIPT ", "BUSYGROUP ", "NOGROUP ", "NOPERM ", "EXECABORT ", "CROSSSLOT ",
			"CLUSTERDOWN ", "MISCONF ", "NOREPLICAS ", "MASTERDOWN ", "READONLY You can't write", "LOADING Redis is",
			"BUSY Redis is", "OOM command not allowed", "E11000 ", "INSERT INTO ", "DELETE FROM ",
		},
		patterns: []pattern{
			{"sqlite", `\bsqlite3?\.\w+Error\b`},
			{"violates ", `\bviolates (?:unique|foreign key|check|not-null|exclusion) constraint\b`},
			{"uplicate ", `\bduplicate key (?:value|error)\b|\bDuplicate entry '.*' for key\b`},
			{"exist", `\b(?:relation|column|function|schema|database|role|type|operator|index|prepared statement|` +
				`constraint|sequence|trigger|view|cursor) "[^"]+"(?: of relation "[^"]+")? (?:does not exist|` +
				`already exists)`},
			{"does not exist", `\b(?:function|operator) \S+\(.*\) does not exist|\bcolumn \w+\.\w+ does not exist`},
			{"doesn't exist", `\bTable '\w+\.\w+' doesn't exist`},
			{"no such ", `\bno such (?:table|column|index|function|module|savepoint|view|trigger): [a-z_]\w*`},
			{"syntax error", `\bsyntax error at (?:or near|end of input)|\bnear ".*": syntax error`},
			{"file is not a database", `(?:^|: )file is not a database`},
			{" closed", `^(?:tx is|conn) closed$|^closed pool$`},
			{"conn busy", `^conn busy$`},
			{"incomplete input", starts + `incomplete input`},
			{"database ", `\bdatabase (?:table |schema )?is (?:locked|closed)\b|\bdatabase disk image is malformed\b`},
			{"eadlock ", `\bdeadlock detected\b|\bDeadlock found when\b`},
			{"connection pool ", `\bconnection pool (?:timeout|exhausted)\b`},
			{"ERROR: ", `\bERROR: [\s\S]*(?:\bLINE \d+: |\bDETAIL: |\bHINT: | at character \d+)`},
			{"FATAL: ", `FATAL: +[a-z]`},
			{"Error 1", `\bError 1\d{3} \(\w{5}\): `},
			{"ORA-", `\bORA-\d{5}\b`},
			{"Msg ", `\bMsg \d+, Level \d+, State\b`},
			{"failed to connect to ", "\\bfailed to connect to [`'\"](?:host|user|database)="},
			{"MOVED ", `\bMOVED \d+ \S+:\d+`},
			{"ASK ", `\bASK \d+ \S+:\d+`},
			{"ERR ", starts + `ERR (?:[a-z]|Error |DB |AUTH |EXEC |DISCARD |Protocol |DEBUG |Unknown |This instance|` +
				`No such)`},
			{"Mongo", `\bMongo\w*(?:Error|Exception)\b`},
			{"SELECT", `\bSELECT\s[\s\S]{1,400}?\sFROM\s`},
			{"UPDATE ", `\bUPDATE\s+\S+\s+SET\s`},
			{" TABLE ", `\b(?:CREATE|ALTER|DROP) TABLE `},
			{"in Scan", `\bdestination arguments? in Scan\b`},
			{"can", `\bScan error on column\b|\bcan(?:'t|not) scan (?:into|\w+ \(OID)`},
			{" columns", `\b\d+ values for \d+ columns\b`},
		},
	},
	{
		what: "the text of a network or system error",
		marks: []string{
			"proxyconnect tcp", "connection reset by peer", ": no such host", "i/o timeout",
			"use of closed network connection", "bind: address already in use", ": server misbehaving",
			"TLS handshake timeout", "TLS handshake error", "unsupported protocol scheme",
			"certificate signed by unknown authority", "invalid URL escape \"", "first path segment in URL cannot",
			"rpc error: code = ", "stream error: stream ID", "GOAWAY", "RST_STREAM", "no such file or directory",
			"The system cannot find the ",
		},
		patterns: []pattern{
			{"dial ", `\bdial (?:tcp|udp|unix|ip)[46]?\b`},
			{"lookup ", `\blookup \S+(?: on \S+)?: (?:no |server |i/o |dial |read |Temporary |operation |` +
				`unrecognized )`},
			{" tcp", `\b(?:read|write|listen|accept|close) tcp[46]?[ :]`},
			{" u", `\b(?:read|write|listen|accept|close) (?:udp[46]?|unix|unixgram|unixpacket)[ :]`},
			{"connect: ", `\bconnect: (?:connection (?:refused|timed out)|no route to host|network is unreachable|` +
				`operation timed out)`},
			{"broken pipe", `\b(?:write|read|send\w*)\b[^:\n]*: broken pipe`},
			{"in address", `\b(?:missing port|too many colons) in address\b`},
			{"certificate is ", `\bcertificate is (?:not )?valid for \S+, not\b`},
			{"http", `\b(?:Get|Post|Put|Patch|Delete|Head|Options) "https?://`},
			{"parse \"", `\bparse "[^"]*": (?:net/url|invalid (?:port|URL|userinfo|char)|first path|missing )`},
			{"malformed ", `\bmalformed (?:HTTP|MIME) `},
			{"E", `\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|` +
				`ADDR(?:INUSE|NOTAVAIL))\b`},
			{"E", `\bE(?:PIPE|NOENT|ACCES|PERM|EXIST|ISDIR|NOTDIR|NOTEMPTY|MFILE|NOSPC|BADF|INVAL|ROFS|XDEV|BUSY)\b`},
			{"ERR_", `\bERR_[A-Z_]{6,}\b`},
			{": ", `(?:^|: )` + fileCalls + ` [^:\n]{1,300}: ` + systemErrors},
			{" /", `\b` + fileCalls + ` /[^:\n]{0,300}: ` + systemErrors},
		},
	},
	{
		what: "the text of an error of another language",
		marks: []string{
			"<class '", "UnhandledPromiseRejection", "Maximum call stack size exceeded", "heap out of memory",
			"Cannot find module '", "bject reference not set to an instance", "'NoneType'", "[Errno ",
			"could not convert string to float", "Expecting value: line ", "codec can't ", "uninitialized constant ",
			"Unexpectedly found nil",
		},
		patterns: []pattern{
			{"Error", `\b(?:Type|Reference|Syntax|Range|Eval|URI|Aggregate|NoMethod|Argument|LoadError)Error\b`},
			{"Error", `\b(?:Key|Value|Index|Attribute|Name|Import|ModuleNotFound|ZeroDivision|Runtime|NotImplemented|` +
				`Recursion|Assertion|Overflow|UnboundLocal|Indentation|JSONDecode|Unicode\w*|OS|IO|EOF)Error(?:[: (]|` +
				`$)`},
			{"Error", `\b(?:File(?:NotFound|Exists)|IsADirectory|NotADirectory|Permission|Connection(?:Refused|` +
				`Reset)?|BrokenPipe)Error: `},
			{"Error", `\b(?:OutOfMemory|StackOverflow|NoClassDefFound|NoSuchMethod|Operational|Integrity|` +
				`Programming)Error\b`},
			{"Error", `\b[a-z]\w*(?:\.\w+)+Error\b|\b[A-Z]\w+::\w*Error\b`},
			{"Exception", `\b[A-Z][A-Za-z]+Exception\b`},
			{"Error:", `\b(?:[A-Z][a-z]+){2,}Error: |\b(?:Timeout|Parse|Unpickling)Error:`},
			{"StopIteration", `(?:^|: )StopIteration\b`},
			{"of undefined", `\bCannot (?:read|set) propert(?:y|ies)\b.{0,80}\bof undefined\b`},
			{"of null", `\bCannot (?:read|set) propert(?:y|ies)\b.{0,80}\bof null\b`},
			{" is not ", `\b(?:undefined|null) is not (?:an object|a function|iterable)`},
			{"Unexpected token ", `\bUnexpected token .{1,20}(?:in JSON| at position|is not valid JSON)`},
			{"is not valid JSON", `" ?is not valid JSON`},
			{"java", `\bjavax?\.[a-z]+\.[\w.$]*[A-Z]\w*`},
			{"org.", `\borg\.(?:springframework|hibernate|apache|postgresql|eclipse|jboss|codehaus)\.[\w.$]+`},
			{"com.", `\bcom\.[a-z]\w*(?:\.[a-z]\w*)+\.[A-Z]\w*(?:\.\w+\(|: |\$)`},
			{"System.", `\bSystem\.(?:Data|Net|IO|Collections|Threading|Web|Private\w*|Linq|Text)\.[A-Z]\w*`},
			{"Microsoft.", `\bMicrosoft\.(?:Data|AspNetCore|Extensions|EntityFrameworkCore)\.[A-Z]\w*`},
			{"' object ", `'\w+' object (?:has no attribute|is not (?:subscriptable|callable|iterable))`},
			{"invalid literal for ", `\binvalid literal for (?:int|float)\(\)`},
			{" argument", `\w\(\) (?:takes|missing|got) .{0,60}\bargument`},
			{"undefined ", `\bundefined (?:method|local variable(?: or method)?) [\x60']`},
			{"Uncaught ", `\bUncaught (?:[A-Z]\w*(?:Error|Exception)|exception)`},
			{"PHP ", `\bPHP (?:Fatal|Warning|Notice|Parse|Deprecated)`},
			{"Call to ", `\bCall to (?:a member function|undefined (?:function|method))`},
			{"::", `\b(?:std|core|alloc|tokio|boost)::\w+|\b[A-Z]\w*::[a-z_]\w*\(`},
			{"::", `\b(?:PG|Errno|Mysql2|SQLite3|OpenSSL|Net|Active\w+)::[A-Z]\w+`},
			{"called ", "\\bcalled `(?:Option|Result)::"},
		},
	},
	{
		what:  "a connection string",
		marks: []string{"AccountKey="},
		patterns: []pattern{
			{"://", `\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|sqlserver|mssql|clickhouse|` +
				`cassandra)://\S*`},
			{"://", `\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@\S+`},
			{"jdbc:", `\bjdbc:\w+:\S+`},
			{"@", `[^\s:]+:[^\s@]*@(?:tcp|unix)\([^)]*\)`},
			{"host=", `\bhost=\S+.{0,200}\b(?:user|password|dbname|database|sslmode)=`},
			{"user=", `\buser=\S+.{0,200}\b(?:password|dbname|database|sslmode)=`},
			{"=", `(?i)\b(?:server|data source|host|initial catalog|database)=[^;\s]+;.{0,200}\b(?:password|pwd|` +
				`user id|uid)=`},
		},
	},
	{
		what:  "a secret",
		marks: []string{"PRIVATE KEY-----"},
		patterns: []pattern{
			{"AKIA", `\bAKIA[0-9A-Z]{16}\b`},
			{"eyJ", `\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.`},
			{"gh", `\bgh[posu]_\w{30,}|\bgithub_pat_\w{20,}`},
			{"xox", `\bxox[abprs]-[\w-]{10,}`},
			{"k_live_", `\b[sr]k_live_\w{10,}`},
			{"Bearer ", `\bBearer [\w.~+/=-]{20,}`},
			{"assword=", `\b[Pp]assword=[^\s;&'"{<*]{3,}`},
		},
	},
	// One in single quotes is a value, of the caller or of the handler.
	{
		what:  "a path on the server",
		marks: []string{"node_modules/", "/go-build"},
		patterns: []pattern{
			{"/", `(?:^|[\s("=:\[,])/(?:(?:home|Users)/[\w.@-]+|root|opt|srv|tmp|private|etc|proc)/[\w.@-]+`},
			{"/", `(?:^|[\s("=:\[,])/(?:usr/(?:local|lib|share|src|bin)|var/(?:lib|log|run|www|tmp|cache|folders|` +
				`task))/[\w.@-]+`},
			{"-packages/", `/(?:site|dist)-packages/`},
			{`:\`, `(?:^|[\s("=\[,])[A-Z]:\\+(?:Users|Windows|Program Files|ProgramData|inetpub|Temp)\\`},
		},
	},
}

// packages are the Go packages whose names are no words of English.
const packages = `sql|sql/driver|jsontext|gob|tls|x509|asn1|ecdsa|rsa|aes|hmac|hkdf|pem|bufio|reflect|strconv|` +
	`regexp|gzip|zlib|flate|lzw|bzip2|multipart|quotedprintable|smtp|cookiejar|hpack|http2|fcgi|cgi|cgo|slog|netip|pq|` +
	`pgx|pgconn|redis|sqlite3?|mysql|mssql|gorm|sqlx|mongo|bbolt|badger|grpc|protobuf|proto|codec|uuid`

// fileCalls are the operations of the errors of package os.
const fileCalls = `(?:open|openat|stat|lstat|fstat|mkdir|mkdirat|remove|unlink|unlinkat|rename|read|write|readdir|` +
	`readdirent|fdopendir|readlink|symlink|link|chmod|chown|lchown|chdir|chtimes|truncate|close|seek|fork/exec|mmap|` +
	`flock|fcntl)`

// systemErrors are the texts of system errors.
const systemErrors = `(?:no such file|permission denied|operation not permitted|file exists|is a directory|` +
	`not a directory|directory not empty|too many open files|no space left on device|read-only file system|` +
	`invalid cross-device link|input/output error|invalid argument|device or resource busy|bad file descriptor|` +
	`resource temporarily unavailable|cannot allocate memory|file name too long|text file busy|broken pipe|` +
	`file already closed|file does not exist|file already exists|exec format error|interrupted system call|` +
	`too many levels of symbolic links|disk quota exceeded)`
