package gen

// answerExecution is the operation with which a caller answers an execution that waits for that.
func answerExecution(id Param, returns Returns) Operation {
	return Operation{
		Name: AnswerExecution, Category: Execute, Danger: Reversible, DangerSource: DangerFromTag,
		Description: "Answers what a paused execution of the caller waits for, once. " +
			"What an operator has to decide cannot be answered with it.",
		Params: []Param{
			id,
			{
				Name: "name", Go: "Name", Type: "string", Required: true, MaxLength: 200,
				Description: "Name of the question: waits_for.name of the execution",
			},
			{Name: "value", Go: "Value", Type: "any", Nullable: true, Description: "The answer; without it null"},
		},
		Returns: returns,
		Examples: []Example{
			{`{"execution_id":"exec_7k3f","name":"channel","value":"stable"}`, "A text, where that is what it waits for"},
		},
	}
}

// executionWait is the type of what an execution waits for.
func executionWait() Type {
	text := func(name, goName, description string) Param {
		return Param{Name: name, Go: goName, Type: "string", OmitEmpty: true, Description: description}
	}
	name := text("name", "Name", "What is waited for")
	name.Required, name.OmitEmpty = true, false
	from := text("from", "From", "Who answers: the caller with answer_execution, or an operator, who is asked already")
	from.Required, from.OmitEmpty, from.Enum = true, false, []string{"caller", "operator"}
	until := text("until", "Until", "When it goes on without an answer")
	until.Format, until.Nullable = "date-time", true
	return Type{
		Name: "ExecutionWait", Kind: KindObject, Description: "For what an execution is paused.", Fields: []Param{
			name, from, text("type", "Type", "JSON type of the answer; absent: any"),
			text("message", "Message", "What the operator is asked, or why the last answer was of no use"),
			text("approval_id", "Approval", "Of the item of the operator's inbox"), until,
		},
	}
}
