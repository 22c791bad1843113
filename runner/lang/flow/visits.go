package flow

import (
	"math"
	"math/bits"
	"slices"

	"github.com/pawl-ci/pawl/runner/lang/graph"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// counting is one computation of how often nodes can be visited. Per region:
type counting struct {
	*Flow
	turns  map[*graph.Region]int64             // how often it is gone round after the first time, per entry
	spread map[*graph.Region]map[*ir.Node]bool // fan-outs whose branches go round it without having met
	powers map[*graph.Region]int64             // what one token that enters becomes at any of its nodes, all turns together
	rounds map[*graph.Region]int64             // the same for all entries together; the nil region is the workflow
	beyond map[*ir.Node]map[*graph.Region]bool // regions whose tokens multiply before they come to a node outside
	wild   map[*ir.Node]bool                   // nodes that nothing is said of: see tangled
}

// visits returns, by node index, how often each node can be visited at most in
// one run; 0 for those that cannot be reached. Every loop is taken as often as its
// bound allows, every fan-out takes all of its edges. Figures that do not fit are
// the largest there is. Cycles that no loop bounds count once: they are an error.
func (f *Flow) visits() []int64 {
	c := &counting{Flow: f, powers: make(map[*graph.Region]int64), rounds: map[*graph.Region]int64{nil: 1}}
	c.turn()
	c.multiply()
	c.grow()
	c.tangled()
	out := make([]int64, len(f.w.Nodes))
	for _, i := range f.g.Order() {
		out[i] = c.at(f.w.Nodes[i], out)
	}
	for _, i := range f.g.Order() {
		if j, ok := f.w.Nodes[i].Op.(*ir.Join); ok {
			if r := f.w.Resolver(j); r != nil {
				out[r.Index] = plus(out[r.Index], out[i])
			}
		}
	}
	return out
}

// grow fills powers and rounds. Where tokens multiply within an inner region, each
// turn of the one around it begins with as many.
func (c *counting) grow() {
	regions := c.g.Regions()
	inside := make(map[*graph.Region]int64)
	for _, r := range regions { // from inside to outside
		k := max(inside[r], 1)
		for fan := range c.spread[r] {
			k = times(k, int64(len(fan.Edges)))
		}
		c.powers[r] = series(k, c.turns[r])
		if k > 1 {
			k = times(k, c.powers[r])
		}
		if len(c.spread[r.Up]) > 0 {
			inside[r.Up] = times(max(inside[r.Up], 1), k)
		}
	}
	for i := len(regions) - 1; i >= 0; i-- { // from outside to inside
		c.rounds[regions[i]] = times(c.rounds[regions[i].Up], c.powers[regions[i]])
	}
}

// tangled finds fan-outs in cycles with several entrances. How their tokens multiply
// is not counted: the largest number stands for it.
func (c *counting) tangled() {
	c.wild = make(map[*ir.Node]bool)
	for _, fan := range c.fans {
		if fan == nil || c.wild[fan] || !c.Reachable(fan) {
			continue
		}
		r := c.g.Inner(fan.Index)
		for r != nil && r.Up != nil {
			r = r.Up
		}
		if r == nil || r.Header >= 0 {
			continue
		}
		for _, n := range append(c.On(fan), fan) {
			c.wild[n] = true
		}
		for _, i := range c.g.Order() {
			if c.g.Holds(r, i) {
				c.wild[c.w.Nodes[i]] = true
			}
		}
	}
}

// at is how often n can be visited; what comes before it is in visits.
func (c *counting) at(n *ir.Node, visits []int64) int64 {
	if c.wild[n] {
		return math.MaxInt64
	}
	sum := int64(0)
	for _, b := range c.branches[n.Index] {
		if fan := c.fans[b]; fan == nil {
			sum = plus(sum, c.rounds[c.g.Inner(n.Index)])
		} else {
			sum = plus(sum, times(visits[fan.Index], c.further(n, fan)))
		}
	}
	for r := range c.beyond[n] {
		sum = times(sum, c.rounds[r])
	}
	if len(c.spread) > 0 {
		return sum
	}
	return min(sum, c.inflow(n, visits))
}

// further is how often a token comes to n for each time that it left the fan-out:
// it goes round what regions n lies in and the fan-out does not.
func (c *counting) further(n, fan *ir.Node) int64 {
	again := int64(1)
	for r := c.g.Inner(n.Index); r != nil && !c.g.Holds(r, fan.Index); r = r.Up {
		again = times(again, c.powers[r])
	}
	return again
}

// inflow is how often the edges to a node can be taken at most: a counted one no
// more often than its loop allows.
func (c *counting) inflow(n *ir.Node, visits []int64) int64 {
	if n == c.w.Entry {
		return math.MaxInt64
	}
	sum := int64(0)
	for _, e := range c.into[n.Index] {
		if c.back(e) {
			return math.MaxInt64
		}
		taken := visits[e.From.Index]
		if r := c.around(e); e.Loop != nil && c.counts(e.Loop, r) && c.alone(e) {
			taken = min(taken, times(int64(max(e.Loop.Max, 0)), c.rounds[r.Up]))
		}
		sum = plus(sum, taken)
	}
	return sum
}

// alone reports whether only the run's own token takes e; others have counters of
// their own.
func (f *Flow) alone(e *ir.Edge) bool {
	list := f.branches[e.From.Index]
	return len(list) == 1 && list[0] == 0
}

func (f *Flow) around(e *ir.Edge) *graph.Region { return f.g.Around(e.From.Index, e.To.Index) }

// counts reports whether the loop counts throughout the region, which holds an
// edge of it. A body is made of whole regions, so one with the header holds all.
func (f *Flow) counts(l *ir.Loop, r *graph.Region) bool {
	return r != nil && (r.Header < 0 || l.Contains(f.w.Nodes[r.Header]))
}

// turn fills turns: the sum of what the loops that count throughout a region allow.
func (c *counting) turn() {
	byLoop := make(map[*ir.Loop][]*ir.Edge)
	for _, i := range c.g.Order() {
		for _, e := range c.w.Nodes[i].Edges {
			if e.Loop != nil {
				byLoop[e.Loop] = append(byLoop[e.Loop], e)
			}
		}
	}
	c.turns = make(map[*graph.Region]int64)
	for loop, edges := range byLoop { // sums: their order does not matter
		seen := make(map[*graph.Region]bool)
		for _, e := range edges {
			for r := c.around(e); r != nil && !seen[r] && c.counts(loop, r); r = r.Up {
				seen[r] = true
				c.turns[r] = plus(c.turns[r], int64(max(loop.Max, 0)))
			}
		}
	}
}

// multiply fills spread and beyond: with each turn one token becomes as many as
// such a fan-out has edges.
func (c *counting) multiply() {
	c.spread, c.beyond = make(map[*graph.Region]map[*ir.Node]bool), make(map[*ir.Node]map[*graph.Region]bool)
	for _, i := range c.g.Order() {
		for _, e := range c.into[i] {
			r := c.around(e)
			if r == nil || !c.back(e) {
				continue
			}
			list := slices.Clone(c.branches[e.From.Index])
			if b := c.base[e.From.Index]; b > 0 {
				list = []int{b + e.Index}
			}
			for ; len(list) > 0; list = list[1:] {
				fan := c.fans[list[0]]
				if fan != nil && !c.spread[r][fan] && c.g.Holds(r, fan.Index) {
					c.spreads(r, fan)
					list = append(list, c.branches[fan.Index]...)
				}
			}
		}
	}
}

func (c *counting) spreads(r *graph.Region, fan *ir.Node) {
	if c.spread[r] == nil {
		c.spread[r] = make(map[*ir.Node]bool)
	}
	c.spread[r][fan] = true
	for _, n := range c.On(fan) {
		if c.g.Holds(r, n.Index) {
			continue
		}
		if c.beyond[n] == nil {
			c.beyond[n] = make(map[*graph.Region]bool)
		}
		c.beyond[n][r] = true
	}
}

// series is 1 + k + k² + … + kⁿ, where k is at least 1.
func series(k, n int64) int64 {
	if k <= 1 {
		return plus(n, 1)
	}
	sum, power := int64(1), int64(1)
	for i := int64(0); i < n && sum < math.MaxInt64; i++ {
		power = times(power, k)
		sum = plus(sum, power)
	}
	return sum
}

// plus and times never wrap: the largest number stands for everything above it.
// They take nothing negative.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
