package score

import "slices"

// Direction says which of two values of a metric is better.
type Direction string

// The directions. A metric without one is only compared with its success value.
const (
	NoDirection Direction = ""
	Higher      Direction = "max"
	Lower       Direction = "min"
)

// Metric is one that every run has.
type Metric struct {
	Name      string
	Direction Direction
	About     string // a noun phrase
}

// metrics are the built-in ones, sorted by name.
var metrics = []Metric{
	{"cost_usd", Lower, "US dollars that count against max_cost_usd"},
	{"duration", Lower, "seconds of running, parked time left out"},
	{"effective_tokens", Lower, "tokens weighed by what they cost: input 1, cached 0.1, cache write 1.25, output 4"},
	{"iterations", Lower, "node executions"},
	{"model_calls", Lower, "model calls that were answered"},
	{"tokens", Lower, "tokens that count against max_tokens"},
	{"tool_calls", Lower, "tools that models called"},
	{"verified", Higher, "whether the run is done and its repository's tests pass"},
}

// Metrics lists the built-in metrics by name. The caller owns the list.
func Metrics() []Metric { return slices.Clone(metrics) }

// Builtin returns the built-in metric of that name.
func Builtin(name string) (Metric, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// Policy is how a recipe judges a run.
type Policy struct {
	// Metric is the name of a built-in metric, a field that some node gives
	// ("approved"), a node's field ("reviewer.approved"), or an artifact's
	// ("artifacts.verdict.score").
	Metric string `json:"metric"`
	// Success is what the metric must be: a value, or a comparison such as
	// ">= 0.8". "" leaves it to the run: it must be done.
	Success   string    `json:"success,omitempty"`
	Direction Direction `json:"direction,omitempty"`
	Secondary []string  `json:"secondary,omitempty"` // more metrics, only shown
}

// Names lists every metric of the policy, the first one first.
func (p Policy) Names() []string { return append([]string{p.Metric}, p.Secondary...) }

// Ending is how far a run has come, as far as it matters to a verdict.
type Ending int

// The endings.
const (
	Open  Ending = iota // running, parked or stopped: there is no verdict yet
	Done                // the workflow says so, and its tests do not object
	No                  // the workflow itself decided against: its path led to fail
	Broke               // it failed otherwise: tests, a loop's bound, a model, a command
)

// Facts are what is known about a run.
type Facts struct {
	Ending Ending
	Values map[string]any // by metric; one that is not known is not there
}

// Measure is one metric of one run. Value is nil when it is not known.
type Measure struct {
	Metric string `json:"metric"`
	Value  any    `json:"value"`
}

// Verdict is what a policy says about a run.
type Verdict struct {
	Measure
	Direction Direction `json:"direction,omitempty"`
	Decided   bool      `json:"decided"` // the run has ended, so Success will not change
	Success   bool      `json:"success"`
	Reason    string    `json:"reason"` // one line
	Secondary []Measure `json:"secondary,omitempty"`
}

// Judge applies the policy. A run that broke is no success whatever its metric
// says: what a model claims does not outweigh a test that fails.
func (p Policy) Judge(f Facts) Verdict {
	v := Verdict{Measure: Measure{p.Metric, f.Values[p.Metric]}, Direction: p.Direction, Decided: f.Ending != Open}
	for _, name := range p.Secondary {
		v.Secondary = append(v.Secondary, Measure{name, f.Values[name]})
	}
	v.Success, v.Reason = p.decide(f, v.Value)
	return v
}

func (p Policy) decide(f Facts, value any) (success bool, reason string) {
	switch {
	case f.Ending == Open:
		return false, "the run has not come to its end"
	case f.Ending == Broke:
		return false, "the run failed, whatever its metric says"
	case p.Success == "" && f.Ending == Done:
		return true, "the run is done"
	case p.Success == "":
		return false, "the run is not done"
	case value == nil:
		return false, p.Metric + " is not known: no node has given it"
	}
	wish, err := ParseWish(p.Success)
	if err != nil {
		return false, err.Error()
	}
	if wish.Holds(value) {
		return true, p.Metric + " is " + Text(value)
	}
	return false, p.Metric + " is " + Text(value) + ", not " + wish.String()
}
