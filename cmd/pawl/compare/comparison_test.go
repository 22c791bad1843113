package compare

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// Whatever the runs spend of what they may, in whatever order they end, and
// whatever becomes of them: their limits never add up to more than there is, and
// none is without a limit.
func TestTheSumNeverExceedsTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := &comparison{flags: &flags{repeat: rapid.IntRange(1, 4).Draw(t, "repeat")}}
		c.purse.Limits = budget.Limits{MaxCost: budget.Micros(rapid.Int64Range(1, 60).Draw(t, "cost")), MaxTokens: rapid.Int64Range(1, 60).Draw(t, "tokens")}
		for i := range rapid.IntRange(1, 4).Draw(t, "contenders") {
			own := budget.Limits{MaxCost: budget.Micros(rapid.Int64Range(0, 20).Draw(t, "own cost")), MaxTokens: rapid.Int64Range(0, 20).Draw(t, "own tokens")}
			c.contenders = append(c.contenders, contender{slug: fmt.Sprint(i), source: &cli.Source{Workflow: &ir.Workflow{Limits: own}}})
		}
		c.plan()
		app := &cli.App{Err: io.Discard}
		var allowed, spent budget.Amount
		type going struct {
			trial
			limits budget.Limits
		}
		var running []going
		end := func() {
			g := running[0]
			running = running[1:]
			used := budget.Usage{Input: rapid.Int64Range(0, g.limits.MaxTokens).Draw(t, "used"), Cost: budget.Micros(rapid.Int64Range(0, int64(g.limits.MaxCost)).Draw(t, "paid"))}
			state := &machine.State{Status: machine.Finished, Outcome: &event.RunFinished{Outcome: event.Done}, Purse: budget.Purse{Spent: used}}
			switch rapid.IntRange(0, 3).Draw(t, "end") {
			case 1:
				state.Status = machine.Parked // it may spend the rest later
			case 2:
				state = nil
			}
			if state == nil || state.Status == machine.Parked {
				used = budget.Usage{Input: g.limits.MaxTokens, Cost: g.limits.MaxCost}
			}
			spent = spent.Add(used.Amount())
			allowed = allowed.Sub(budget.Amount{Tokens: g.limits.MaxTokens, Cost: g.limits.MaxCost})
			c.settle(g.trial, state, app)
		}
		for {
			for len(running) > 0 && rapid.Bool().Draw(t, "one ends") {
				end()
			}
			tr, limits, ok := c.next()
			if !ok {
				break
			}
			if limits.MaxCost <= 0 || limits.MaxTokens <= 0 {
				t.Fatalf("run %s has no limit: %+v", tr.id, limits)
			}
			running = append(running, going{tr, limits})
			allowed = allowed.Add(budget.Amount{Tokens: limits.MaxTokens, Cost: limits.MaxCost})
			if sum := allowed.Add(spent); sum.Cost > c.purse.Limits.MaxCost || sum.Tokens > c.purse.Limits.MaxTokens {
				t.Fatalf("%+v is allowed or spent, of %+v", sum, c.purse.Limits)
			}
		}
		for len(running) > 0 {
			end()
		}
		if used := c.purse.Used(); used != spent {
			t.Fatalf("the purse counts %+v, and %+v was spent", used, spent)
		}
	})
}

// A limit of its own that is lower than its part is kept, and what it leaves is
// there for the others.
func TestShares(t *testing.T) {
	t.Parallel()
	source := func(cost budget.Micros) *cli.Source {
		return &cli.Source{Workflow: &ir.Workflow{Limits: budget.Limits{MaxCost: cost}}}
	}
	c := &comparison{flags: &flags{repeat: 1}, contenders: []contender{{source: source(10)}, {source: source(0)}, {source: source(0)}}}
	c.purse.Limits.MaxCost = 100
	c.plan()
	var got []string
	for range 4 {
		_, limits, ok := c.next()
		got = append(got, fmt.Sprint(int64(limits.MaxCost), ok))
	}
	if text := strings.Join(got, ", "); text != "10 true, 45 true, 45 true, 0 false" || c.starved {
		t.Errorf("shares %s", text)
	}
	poor := &comparison{flags: &flags{repeat: 2}, contenders: []contender{{source: source(0)}, {source: source(0)}}}
	poor.purse.Limits.MaxCost = 3
	poor.plan()
	if _, _, ok := poor.next(); ok || !poor.starved {
		t.Error("three millionths of a dollar were divided by four")
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Fast Review!": "fast-review", "x": "x", "日本": "recipe", "": "recipe", "--": "recipe", "a very long name of some recipe": "a-very-long-name-of-some", "Über": "ber",
	} {
		if got := slug(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// Lines of several runs keep their label however they are written.
func TestLabels(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w := &labelled{to: &b, label: "a | "}
	text := "one\ntwo\n\nthree"
	for len(text) > 0 {
		n := rand.IntN(len(text)) + 1
		if m, err := io.WriteString(w, text[:n]); m != n || err != nil {
			t.Fatal(m, err)
		}
		text = text[n:]
	}
	if b.String() != "a | one\na | two\na | \na | three" {
		t.Errorf("%q", b.String())
	}
}
