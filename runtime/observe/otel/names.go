package otel

// The names of the conventions for MCP and generative AI, in their state of development: of
// https://github.com/open-telemetry/semantic-conventions-genai at the commit
// 55a32cddb97d99cec08d5ee081e74206a0636041, model/mcp. No package of go.opentelemetry.io/otel/semconv has them in all
// of its versions.
const (
	mcpMethod         = "mcp.method.name"
	mcpSession        = "mcp.session.id"
	mcpVersion        = "mcp.protocol.version"
	genAIAction       = "gen_ai.operation.name"
	genAITool         = "gen_ai.tool.name"
	genAIAgent        = "gen_ai.agent.name"
	genAIConversation = "gen_ai.conversation.id"
	rpcRequest        = "jsonrpc.request.id"
	rpcStatus         = "rpc.response.status_code"
	network           = "network.transport"
	errorType         = "error.type"
	callDurations     = "mcp.server.operation.duration"
	sessionDurations  = "mcp.server.session.duration"

	toolsCall   = "tools/call"   // of mcpMethod
	executeTool = "execute_tool" // of genAIAction
)

// The names of attributes that no convention has.
const (
	operationName     = "aql.operation.name"
	operationCategory = "aql.operation.category"
	operationDanger   = "aql.danger"
	operationEndpoint = "aql.endpoint"
	gateDecision      = "aql.gate.decision"
	gateReason        = "aql.gate.reason"
	gateRule          = "aql.gate.rule"
	confirmed         = "aql.confirmed"
	quotaMetric       = "aql.quota.metric"
	executionID       = "aql.execution.id"
	executionAttempt  = "aql.execution.attempt"
	executionState    = "aql.execution.state"
	executionStopped  = "aql.execution.stopped"
	approvalKind      = "aql.approval.kind"
	loopTier          = "aql.loop.tier"
	loopContinue      = "aql.loop.continue"
	loopStopped       = "aql.loop.stopped"
	verifyResult      = "aql.verify.result"
	storeMethod       = "aql.store.method"
)

// The names of events of spans.
const (
	takenOver     = "taken_over"
	paused        = "paused"
	cancelled     = "cancelled"
	directiveGave = "directive"
)

// The names of metrics that no convention has.
const (
	operationDurations = "aql.operation.duration"
	gateDecisions      = "aql.gate.decisions"
	quotaUsed          = "aql.quota.used"
	executionStates    = "aql.executions"
	executionDurations = "aql.execution.duration"
	executionTakeovers = "aql.execution.takeovers"
	approvalsOpened    = "aql.approvals.opened"
	approvalWaits      = "aql.approvals.wait"
	loopDirectives     = "aql.loop.directives"
	verifyFailures     = "aql.verify.failures"
	auditQueue         = "aql.audit.queue"
	storeDurations     = "aql.store.duration"

	approvalsOpen         = "aql.approvals.open"
	approvalsOldest       = "aql.approvals.oldest"
	agentsBlocked         = "aql.agents.blocked"
	executionsOutstanding = "aql.executions.outstanding"
	executionQueueAge     = "aql.execution.queue.age"
)
