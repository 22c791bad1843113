package event

import "slices"

// bodies makes an empty body for every type there is.
var bodies = map[Type]func() Body{
	"RunStarted":        func() Body { return new(RunStarted) },
	"RunResumed":        func() Body { return new(RunResumed) },
	"RunParked":         func() Body { return new(RunParked) },
	"RunStopped":        func() Body { return new(RunStopped) },
	"RunFinished":       func() Body { return new(RunFinished) },
	"BudgetWarned":      func() Body { return new(BudgetWarned) },
	"NodeStarted":       func() Body { return new(NodeStarted) },
	"NodeFinished":      func() Body { return new(NodeFinished) },
	"NodeFailed":        func() Body { return new(NodeFailed) },
	"NodeRetried":       func() Body { return new(NodeRetried) },
	"EdgeTaken":         func() Body { return new(EdgeTaken) },
	"Forked":            func() Body { return new(Forked) },
	"BranchFailed":      func() Body { return new(BranchFailed) },
	"MergeStarted":      func() Body { return new(MergeStarted) },
	"MergeFinished":     func() Body { return new(MergeFinished) },
	"ConflictReferred":  func() Body { return new(ConflictReferred) },
	"ModelCallStarted":  func() Body { return new(ModelCallStarted) },
	"ModelCallFinished": func() Body { return new(ModelCallFinished) },
	"ModelCallFailed":   func() Body { return new(ModelCallFailed) },
	"ToolCallStarted":   func() Body { return new(ToolCallStarted) },
	"ToolCallFinished":  func() Body { return new(ToolCallFinished) },
	"CommandStarted":    func() Body { return new(CommandStarted) },
	"CommandFinished":   func() Body { return new(CommandFinished) },
	"GateOpened":        func() Body { return new(GateOpened) },
	"GateAsked":         func() Body { return new(GateAsked) },
	"GateAnswered":      func() Body { return new(GateAnswered) },
	"VerifyStarted":     func() Body { return new(VerifyStarted) },
	"VerifyFinished":    func() Body { return new(VerifyFinished) },
	"EffectForfeited":   func() Body { return new(EffectForfeited) },
}

// New returns an empty body of the type, or nil when there is no such type.
func New(t Type) Body {
	if empty := bodies[t]; empty != nil {
		return empty()
	}
	return nil
}

// Types lists every type of event, sorted.
func Types() []Type {
	types := make([]Type, 0, len(bodies))
	for t := range bodies {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}
