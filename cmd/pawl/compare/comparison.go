package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/records"
	"github.com/pawl-ci/pawl/cmd/pawl/work"
	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/report/versus"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/machine"
)

// contender is one recipe that takes part.
type contender struct {
	name   string
	slug   string // within run ids
	source *cli.Source
	vars   map[string]any
}

// trial is one run of a comparison.
type trial struct {
	contender int
	repeat    int
	id        event.RunID
}

// comparison is several runs under one purse.
type comparison struct {
	app        *cli.App
	flags      *flags
	place      *records.Place
	id         string
	contenders []contender
	policy     *score.Policy // for contenders without one; nil when the others disagree

	mu      sync.Mutex // guards what follows
	purse   budget.Purse
	waiting []trial
	begun   []event.RunID
	failed  bool // pawl or the world failed in some run
	starved bool // the common limit left nothing for some run
}

// newComparison reads everything and checks that every run could begin, before
// the first one does.
func newComparison(ctx context.Context, a *cli.App, workflow string, f *flags) (*comparison, error) {
	access, err := f.Access(ctx, a)
	if err != nil {
		return nil, err
	}
	defer access.Close()
	c := &comparison{app: a, flags: f, id: string(records.NewRunID(time.Now()))}
	given := f.Limits()
	c.purse.Limits = budget.Limits{MaxCost: given.MaxCost, MaxTokens: given.MaxTokens}
	if err := c.compile(workflow, cli.CompileOptions{Lookup: a.LookupEnv, Model: access.Model, Prices: access.Prices}); err != nil {
		return nil, err
	}
	worktree := false
	for i := range c.contenders {
		w := c.contenders[i].source.Workflow
		if c.contenders[i].vars, err = f.Vars(c.contenders[i].source); err != nil {
			return nil, err
		}
		if err := access.Need(w); err != nil {
			return nil, err
		}
		worktree = worktree || w.Worktree
	}
	if c.place, err = records.Open(ctx, a, worktree); err != nil {
		return nil, err
	}
	c.place.Notices(a)
	c.agree()
	c.plan()
	return c, nil
}

// compile reads the workflow under every recipe and shows all findings at once.
func (c *comparison) compile(workflow string, opt cli.CompileOptions) error {
	recipes := c.flags.recipes
	if c.flags.baseline {
		recipes = append([]string{""}, recipes...)
	}
	all := &cli.Source{}
	for _, path := range recipes {
		src, err := c.read(workflow, path, opt)
		if err != nil {
			return err
		}
		all.Findings = append(all.Findings, src.Findings...)
		name := src.RecipeName
		if path == "" {
			name = versus.NoRecipe
		}
		c.contenders = append(c.contenders, contender{name: name, source: src})
	}
	all.Findings.Sort()
	if err := c.app.Say(all); err != nil {
		return err
	}
	return c.distinct()
}

func (c *comparison) read(workflow, path string, opt cli.CompileOptions) (*cli.Source, error) {
	if workflow == "" {
		return c.app.ReadSource(path, opt)
	}
	if path != "" {
		var err error
		if opt.Recipe, err = c.app.ReadRecipe(path); err != nil {
			return nil, err
		}
	}
	return c.app.ReadSource(workflow, opt)
}

// distinct demands one workflow and different names: a table of anything else
// says nothing.
func (c *comparison) distinct() error {
	seen := make(map[string]*diag.File)
	slugs := make(map[string]bool)
	for i := range c.contenders {
		k := &c.contenders[i]
		if first := c.contenders[0].source; k.source.File.Text != first.File.Text {
			return cli.Usage(fmt.Errorf("%s and %s are different workflows", first.Path, k.source.Path), "name the one that all recipes are run on: pawl compare WORKFLOW.iter --recipe FILE --recipe FILE")
		}
		if other := seen[k.name]; other != nil {
			return cli.Usage(fmt.Errorf("%s and %s are both called %s", other.Name, k.source.Recipe.Name, k.name), "give each recipe a name of its own")
		}
		seen[k.name] = cmp.Or(k.source.Recipe, k.source.File)
		k.slug = slug(k.name)
		if slugs[k.slug] {
			k.slug += fmt.Sprint(i + 1)
		}
		slugs[k.slug] = true
	}
	return nil
}

// agree finds the policy that all recipes share which have one: by it the
// workflow as it is can be judged too.
func (c *comparison) agree() {
	for _, k := range c.contenders {
		switch p := k.source.Policy; {
		case p == nil:
		case c.policy == nil:
			c.policy = p
		case p.Metric != c.policy.Metric || p.Success != c.policy.Success || p.Direction != c.policy.Direction:
			c.policy = nil
			return
		}
	}
}

// slug makes a name a part of run ids and branches.
func slug(name string) string {
	const most = 24
	text := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	text = strings.Trim(text[:min(len(text), most)], "-")
	return cmp.Or(text, "recipe")
}

// plan lists the runs, one of each recipe before the second of any: a comparison
// that is cut short has then measured all alike.
func (c *comparison) plan() {
	for repeat := 1; repeat <= c.flags.repeat; repeat++ {
		for i, k := range c.contenders {
			c.waiting = append(c.waiting, trial{i, repeat, event.RunID(fmt.Sprintf("%s-%s-%d", c.id, k.slug, repeat))})
		}
	}
}

// run works off the plan. When ctx ends, what runs stops in order and nothing new
// begins.
func (c *comparison) run(ctx context.Context) {
	var workers sync.WaitGroup
	total := len(c.waiting)
	out := &lockedWriter{w: c.app.Err}
	for range min(c.flags.parallel, total) {
		workers.Go(func() {
			for ctx.Err() == nil {
				t, limits, ok := c.next()
				if !ok {
					return
				}
				app := *c.app
				app.Out, app.Err, app.JSON = io.Discard, out, false
				if c.flags.parallel > 1 {
					app.Err = &labelled{to: out, label: c.contenders[t.contender].slug + fmt.Sprintf("-%d | ", t.repeat)}
				}
				app.Notice("%s: run %d of %d", words.OneLine(c.contenders[t.contender].name), c.number(t), total)
				c.settle(t, c.try(ctx, &app, t, limits), &app)
			}
		})
	}
	workers.Wait()
}

// number is the number of a run in the plan, from 1.
func (c *comparison) number(t trial) int { return (t.repeat-1)*len(c.contenders) + t.contender + 1 }

// next takes a run off the plan and what it may spend out of the purse: an equal
// part of what is left for each run that has not begun, or its own limit if that
// is less. What others do not spend is there for those after them, and the sum
// can never exceed the limit.
func (c *comparison) next() (t trial, limits budget.Limits, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		return t, limits, false
	}
	t = c.waiting[0]
	own, left, runs := c.contenders[t.contender].source.Workflow.Limits, c.purse.Left(), int64(len(c.waiting))
	limits = c.flags.Limits()
	limits.MaxCost, limits.MaxTokens = own.MaxCost, own.MaxTokens
	if c.purse.Limits.MaxCost > 0 {
		limits.MaxCost = least(own.MaxCost, left.Cost/budget.Micros(runs))
	}
	if c.purse.Limits.MaxTokens > 0 {
		limits.MaxTokens = least(own.MaxTokens, left.Tokens/runs)
	}
	if limits.MaxCost < 0 || limits.MaxTokens < 0 {
		c.starved = true // what is left is too little to divide
		c.waiting = nil
		return t, limits, false
	}
	c.waiting = c.waiting[1:]
	c.begun = append(c.begun, t.id)
	c.purse.Hold(string(t.id), budget.Amount{Cost: limits.MaxCost, Tokens: limits.MaxTokens})
	return t, limits, true
}

// least is the smaller of two limits; own may be 0, which is none. A share of
// nothing is -1, because 0 would mean that there is no limit.
func least[T budget.Micros | int64](own, share T) T {
	switch {
	case share <= 0:
		return -1
	case own > 0 && own < share:
		return own
	}
	return share
}

// try makes one run. Its state is nil when it could not begin.
func (c *comparison) try(ctx context.Context, app *cli.App, t trial, limits budget.Limits) *machine.State {
	k := &c.contenders[t.contender]
	run := work.Trial{App: app, Source: k.source, Vars: k.vars, Place: c.place, ID: t.id, Limits: limits, Group: c.group(t)}
	state, err := run.Run(ctx, &c.flags.Flags)
	if err == nil {
		return state
	}
	if ctx.Err() != nil {
		return state // what a signal cuts short has not failed
	}
	status, message, hint := cli.Explain(err)
	app.Notice("%s: %s", t.id, message)
	if hint != "" {
		app.Notice("  hint: %s", hint)
	}
	if status != cli.ExitUsage {
		c.mu.Lock()
		c.failed = true
		c.mu.Unlock()
	}
	return state
}

// group is what the record of a run says about the comparison.
func (c *comparison) group(t trial) *event.Comparison {
	g := &event.Comparison{ID: c.id, Recipe: t.contender, Repeat: t.repeat, Repeats: c.flags.repeat, MaxCost: c.purse.Limits.MaxCost, Policy: c.policy}
	for _, k := range c.contenders {
		g.Recipes = append(g.Recipes, k.name)
	}
	return g
}

// settle gives back what a run did not spend. A run that may go on one day keeps
// all that it was allowed.
func (c *comparison) settle(t trial, s *machine.State, app *cli.App) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == nil {
		c.purse.Forfeit(string(t.id))
		return
	}
	used := s.Purse.Used()
	app.Notice("%s: %s, %s", t.id, statusWord(s), used.Cost)
	if s.Status == machine.Finished || s.Status == machine.Stopped && s.Stop.Reason == event.StopBudget {
		c.purse.Settle(string(t.id), budget.Usage{Input: used.Tokens, Cost: used.Cost})
		return
	}
	c.purse.Forfeit(string(t.id))
}

func statusWord(s *machine.State) string {
	switch s.Status {
	case machine.Finished:
		return string(s.Outcome.Outcome)
	case machine.Parked:
		return "waits for a person"
	case machine.Stopped:
		return "stopped (" + string(s.Stop.Reason) + ")"
	}
	return "broken off"
}

// result reads the records again: what is shown now is what will be shown later.
func (c *comparison) result(ctx context.Context) (versus.Comparison, error) {
	var list []report.Summary
	for _, id := range slices.Sorted(slices.Values(c.begun)) {
		s, err := records.Summarise(ctx, c.app, c.place, id)
		if err != nil {
			c.app.Notice("%s has no record: %v", id, err)
			continue
		}
		if s.RunID != "" { // otherwise it was interrupted before its first event
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return versus.Comparison{}, cli.Host(errors.New("no run of the comparison has begun"), "")
	}
	return versus.Compare(list), nil
}

// status is what the program ends with.
func (c *comparison) status(ctx context.Context, result versus.Comparison) cli.ExitStatus {
	success, parked, cut, host := false, false, c.starved, c.failed
	for _, r := range result.Recipes {
		success = success || r.Successes > 0
		for _, run := range r.List {
			parked = parked || run.Status == report.Parked
			host = host || run.Status == report.Stopped && run.Outcome.Class == string(event.StopHost)
			cut = cut || run.Status == report.Stopped && !run.Ended
		}
	}
	switch {
	case host:
		return cli.ExitHost
	case cut || ctx.Err() != nil:
		return cli.ExitStopped
	case parked:
		return cli.ExitParked
	case success:
		return cli.ExitDone
	}
	return cli.ExitFailed
}

// lockedWriter lets several runs write to one stream, a call at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// labelled puts a label in front of each line.
type labelled struct {
	to    io.Writer
	label string
	open  bool // a line has begun
}

// Write implements io.Writer.
func (l *labelled) Write(p []byte) (int, error) {
	var b strings.Builder
	for line := range strings.Lines(string(p)) {
		if !l.open {
			b.WriteString(l.label)
		}
		b.WriteString(line)
		l.open = !strings.HasSuffix(line, "\n")
	}
	if _, err := io.WriteString(l.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
