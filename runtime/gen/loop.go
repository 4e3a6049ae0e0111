package gen

import "slices"

// The operations of the execution safety loop (MCP-AQL core §8.5.4).
const (
	ExecuteAgent        = "execute_agent"
	RecordExecutionStep = "record_execution_step"
	CompleteExecution   = "complete_execution"
	AbortExecution      = "abort_execution"
	ConfirmOperation    = "confirm_operation"
	VerifyChallenge     = "verify_challenge"
)

// LoopOperations returns the operations of the execution safety loop.
func LoopOperations() []Operation {
	name := Param{
		Name: "element_name", Go: "Agent", Type: "string", Required: true, ID: true, MaxLength: 128,
		Pattern: "^[A-Za-z0-9]([A-Za-z0-9 ._-]{0,126}[A-Za-z0-9._-])?$", Description: "Name of the agent",
	}
	id := Param{
		Name: "execution_id", Go: "ID", Type: "string", ID: true, MaxLength: 100,
		Description: "Of the execution; needed where the agent has several",
	}
	returns := func(types []Type, at int) Returns {
		t := &types[at]
		return Returns{Name: t.Name, Kind: t.Kind, Description: t.Description, Nullable: true}
	}
	step, verified := returns(LoopTypes(), 0), returns(LoopTypes(), 1)
	execution := returns(ExecutionTypes(nil), 0)
	operation := func(name string, c Category, description string, returns Returns, params ...Param) Operation {
		return Operation{
			Name: name, Category: c, Danger: Reversible, DangerSource: DangerFromTag, Description: description,
			Params: params, Returns: returns,
		}
	}
	operations := []Operation{
		operation(ExecuteAgent, Execute,
			"Starts an agent in the execution safety loop. Before each action, report it with record_execution_step.", step,
			name,
			Param{
				Name: "goal", Go: "Goal", Type: "string", MaxLength: 4000, Description: "Aim of the agent, for people",
			},
			Param{
				Name: "parameters", Go: "Parameters", Type: "object", Items: &Param{Type: "any", Nullable: true},
				Description: "Whatever else people should know of it",
			},
			Param{
				Name: "max_autonomous_steps", Go: "MaxSteps", Type: "integer", Minimum: "1", Nullable: true,
				Description: "How many steps it takes before a person looks; no more than the adapter allows",
			}),
		operation(RecordExecutionStep, Create,
			"Reports what an agent will do next, and says whether it may. Where continue is false, it must not.", step,
			name, id,
			Param{
				Name: "next_action_hint", Go: "Hint", Type: "string", Required: true, MinLength: 1, MaxLength: 2000,
				Aliases: []string{"nextActionHint"},
				Description: "The action, in words for a person to judge: the command, the operation with its target, " +
					"the address",
			},
			Param{
				Name: "step_description", Go: "Description", Type: "string", MaxLength: 4000,
				Aliases: []string{"stepDescription"}, Description: "The step before, in words",
			},
			Param{
				Name: "outcome", Go: "Outcome", Type: "string", Enum: []string{"success", "failure", "skipped"},
				Description: "How the step before ended",
			},
			Param{
				Name: "findings", Go: "Findings", Type: "string", MaxLength: 20_000,
				Description: "Findings of the step before",
			},
			Param{
				Name: "risk", Go: "Risk", Type: "number", Nullable: true,
				Description: "Risk of the action from 0 to 100, where the client knows it; it counts if it is the higher one",
			}),
		operation(CompleteExecution, Execute, "Ends the execution of an agent that has done its work.", execution,
			name, id,
			Param{
				Name: "outcome", Go: "Outcome", Type: "string", Enum: []string{"success", "failure", "skipped"},
				Description: "How the last step ended",
			},
			Param{Name: "summary", Go: "Summary", Type: "string", MaxLength: 4000, Description: "The work done, in words"}),
		operation(AbortExecution, Execute, "Ends the execution of an agent that has not done its work.", execution,
			name, id,
			Param{Name: "reason", Go: "Reason", Type: "string", MaxLength: 500, Description: "Why, for those who read of it"}),
		operation(ConfirmOperation, Execute,
			"Confirms what waits for a person. It needs what only a person is given, on another channel.",
			Returns{Name: "Nothing", Kind: KindScalar, Description: "Nothing."},
			Param{Name: "operation", Go: "Operation", Type: "string", MaxLength: 100, Description: "Operation to confirm"},
			Param{
				Name: "confirmation_token", Go: "Token", Type: "string", Required: true, MaxLength: 200, Sensitive: true,
				Description: "Of the person",
			}),
		operation(VerifyChallenge, Create,
			"Passes a challenge with the code that a person was shown, so that an agent may go on.", verified,
			Param{
				Name: "challenge_id", Go: "Challenge", Type: "string", Required: true, MaxLength: 100,
				Description: "As the agent was told it",
			},
			Param{
				Name: "code", Go: "Code", Type: "string", Required: true, MaxLength: 100, Sensitive: true,
				Description: "As the person reads it out",
			}),
	}
	examples := map[string]Example{
		ExecuteAgent: {`{"element_name":"release_bot","goal":"Publish version 1.4.0"}`, "Starts an agent"},
		RecordExecutionStep: {
			`{"element_name":"release_bot","next_action_hint":"git push origin v1.4.0","outcome":"success"}`,
			"Asks before an action",
		},
		CompleteExecution: {`{"element_name":"release_bot","outcome":"success"}`, "The work is done"},
		AbortExecution:    {`{"element_name":"release_bot","reason":"The tests fail"}`, "The work is not done"},
		ConfirmOperation: {
			`{"operation":"deploy_release","confirmation_token":"conf_Z3JhbnRlZC1ieS1hLXBlcnNvbg"}`,
			"With what only a person is given",
		},
		VerifyChallenge: {
			`{"challenge_id":"0b8f3a52-6d0e-4c1e-9a57-3f6f1c1f5d11","code":"7K2PQ-M9XAT-4WRNE-HB6CD-V8FY1-0"}`,
			"With the code that a person has read out",
		},
	}
	for i := range operations {
		if example, has := examples[operations[i].Name]; has {
			operations[i].Examples = []Example{example}
		}
	}
	return operations
}

// LoopTypes returns the types of the operations of the execution safety loop: that of a directive first, and then that
// of a challenge that was passed. Those of executions are ExecutionTypes.
func LoopTypes() []Type {
	text := func(name, goName, description string) Param {
		return Param{Name: name, Go: goName, Type: "string", OmitEmpty: true, Description: description}
	}
	required := func(p Param) Param {
		p.Required, p.OmitEmpty = true, false
		return p
	}
	moment := required(text("timestamp", "Timestamp", "When it happened"))
	moment.Format = "date-time"
	kind := required(text("type", "Type", "What it is about"))
	kind.Enum = []string{"permission_pending", "autonomy_pause", "danger_zone", "status"}
	risk := text("nextStepRisk", "Risk", "How much of a person the action needs")
	risk.Enum = []string{"advisory", "confirm", "verify", "danger_zone"}
	of := text("approval_of", "ApprovalOf", "What that is about: the reported action, as many steps again whatever they "+
		"are, going on after a failure, or another action, which was reported before")
	of.Enum = []string{"action", "steps", "failure", "other"}
	id := required(text("execution_id", "ID", "The execution of the agent"))
	id.ID = true
	return []Type{
		{
			Name: "AgentDirective", Kind: KindObject, Description: "Whether an agent may go on.", Fields: []Param{
				id,
				required(text("element_name", "Agent", "Name of the agent")),
				{
					Name: "step", Go: "Step", Type: "integer", Required: true,
					Description: "How many steps it has taken with this one",
				},
				{
					Name: "continue", Go: "Continue", Type: "boolean", Required: true,
					Description: "Whether it may do what it has reported",
				},
				{
					Name: "factors", Go: "Factors", Type: "array", Required: true, Items: &Param{Type: "string"},
					Description: "What that goes by",
				},
				{
					Name: "stopped", Go: "Stopped", Type: "boolean", OmitEmpty: true,
					Description: "That the agent is blocked, and must do nothing more until a person has lifted that",
				},
				text("reason", "Reason", "Why it may not go on"),
				{
					Name: "stepsRemaining", Go: "Remaining", Type: "integer", OmitEmpty: true, Nullable: true,
					Description: "How many more steps there are until a person looks at it",
				},
				risk,
				text("approval_id", "Approval", "What waits for a person. Report the same action again when it is approved"),
				of,
				{
					Name: "notifications", Go: "Notifications", Type: "array", OmitEmpty: true,
					Items: &Param{Type: "AgentNotification"}, Description: "What has happened since the report before",
				},
			},
		},
		{
			Name: "AgentVerification", Kind: KindObject, Description: "A challenge that was passed.", Fields: []Param{
				{Name: "verified", Go: "Verified", Type: "boolean", Required: true, Description: "Always true"},
				required(text("element_name", "Agent", "Name of the agent")),
				{
					Name: "unblocked", Go: "Unblocked", Type: "boolean", Required: true,
					Description: "Whether it was blocked, and no longer is",
				},
			},
		},
		{
			Name: "AgentNotification", Kind: KindObject, Description: "Something that agents are told.", Fields: []Param{
				kind,
				required(text("message", "Message", "What has happened")),
				{
					Name: "metadata", Go: "Metadata", Type: "AgentNotificationMetadata", OmitEmpty: true, Nullable: true,
					Description: "What it is about",
				},
				moment,
			},
		},
		{
			Name: "AgentNotificationMetadata", Kind: KindObject, Description: "What a notification is about.", Fields: []Param{
				text("operation", "Operation", "The operation that waits"),
				text("reason", "Reason", "Why"),
				text("level", "Level", "The danger level or the tier because of which"),
				text("verificationId", "Verification", "The challenge that lets the agent go on"),
			},
		},
	}
}

// AddLoop adds the operations of the execution safety loop, and those with which agents follow executions where there
// are none yet.
func AddLoop(a *Definitions) {
	a.Operations, a.Types = slices.Clip(a.Operations), slices.Clip(a.Types)
	if !a.Executes() {
		a.Operations = append(a.Operations, ExecutionOperations(nil)...)
		a.Types = append(a.Types, ExecutionTypes(nil)...)
	}
	a.Operations = append(a.Operations, LoopOperations()...)
	a.Types = append(a.Types, LoopTypes()...)
}
