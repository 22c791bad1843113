package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/gates/local"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// parseVars reads NAME=VALUE arguments by the workflow's declarations and fills
// in defaults.
func parseVars(w *ir.Workflow, args []string) (map[string]any, error) {
	vars := make(map[string]any, len(w.Vars))
	given := make(map[string]bool, len(args))
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, cli.Usage(fmt.Errorf("--var %q: want NAME=VALUE", arg), "")
		}
		v := w.Var(name)
		if v == nil {
			return nil, cli.Usage(fmt.Errorf("--var %s: workflow %s has no such variable", name, w.Name), "it has: "+varNames(w))
		}
		value, ok := varValue(v, text)
		if !ok {
			return nil, cli.Usage(fmt.Errorf("--var %s: want %s, got %q", name, v.Type.Describe(), text), "")
		}
		vars[name], given[name] = value, true
	}
	var missing []string
	for _, v := range w.Vars {
		switch {
		case given[v.Name]:
		case v.HasDef:
			vars[v.Name] = v.Default
		default:
			missing = append(missing, v.Name)
		}
	}
	if len(missing) > 0 {
		return nil, cli.Usage(fmt.Errorf("workflow %s needs a value for: %s", w.Name, strings.Join(missing, ", ")), "give it with --var "+missing[0]+"=…")
	}
	return vars, nil
}

func varValue(v *ir.Var, text string) (any, bool) {
	raw := local.Value(v.Type.Field, text)
	value, err := ir.Decode(raw)
	if err != nil {
		return nil, false
	}
	return v.Type.Coerce(value)
}

func varNames(w *ir.Workflow) string {
	names := make([]string, len(w.Vars))
	for i, v := range w.Vars {
		names[i] = v.Name
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// limitFlags lower or raise what the workflow's budget block says.
type limitFlags struct {
	cost       string
	tokens     int64
	duration   time.Duration
	iterations int64
	parsed     budget.Micros
}

func (l *limitFlags) bind(flags *pflag.FlagSet) {
	flags.Var((*costFlag)(l), "max-cost-usd", "spend at most this many US `DOLLARS`")
	flags.Int64Var(&l.tokens, "max-tokens", 0, "use at most `N` tokens")
	flags.DurationVar(&l.duration, "max-duration", 0, "run at most this `LONG` (30m), parked time left out")
	flags.Int64Var(&l.iterations, "max-iterations", 0, "execute at most `N` nodes")
}

// newLimitSet is the flags for callers that have no command line.
func newLimitSet(l *limitFlags) *pflag.FlagSet {
	set := pflag.NewFlagSet("limits", pflag.ContinueOnError)
	l.bind(set)
	return set
}

// over is base with the flags that were given in place of its figures.
func (l *limitFlags) over(base budget.Limits) budget.Limits {
	if l.parsed > 0 {
		base.MaxCost = l.parsed
	}
	if l.tokens > 0 {
		base.MaxTokens = l.tokens
	}
	if l.duration > 0 {
		base.MaxDuration = l.duration
	}
	if l.iterations > 0 {
		base.MaxIterations = l.iterations
	}
	return base
}

// costFlag reads dollars.
type costFlag limitFlags

// String implements pflag.Value.
func (c *costFlag) String() string { return c.cost }

// Type implements pflag.Value.
func (c *costFlag) Type() string { return "DOLLARS" }

// Set implements pflag.Value.
func (c *costFlag) Set(text string) error {
	parsed, err := budget.ParseMicros(text)
	if err != nil {
		return err
	}
	c.cost, c.parsed = text, parsed
	return nil
}

// mustJSON encodes values of our own making, which cannot fail.
func mustJSON(v any) json.RawMessage {
	raw, err := ir.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return raw
}
