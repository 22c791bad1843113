package score

import (
	"cmp"
	"slices"
)

// Sample is one run of a contender. Money is micro-dollars, time milliseconds.
type Sample struct {
	Ended     bool // done or failed; a parked or stopped run has not ended
	Success   bool
	Verified  bool // done, with the repository's tests passing
	Value     any  // of the metric; nil when it is not known
	Tokens    int64
	Effective int64 // tokens weighed by what they cost
	Cost      int64
	Unpriced  bool // the cost is a lower bound
	Millis    int64
}

// Contender is one recipe with its runs.
type Contender struct {
	Name string
	Runs []Sample
}

// Standing is how a contender did over all its runs. The figures are medians of
// the runs that began, whether they succeeded or not.
type Standing struct {
	Name      string `json:"name"`
	Place     int    `json:"place"` // from 1; equal contenders share one
	Winner    bool   `json:"winner"`
	Runs      int    `json:"runs"`
	Ended     int    `json:"ended"`
	Successes int    `json:"successes"`
	Verified  int    `json:"verified"`
	// Value is the metric: the median of numbers, otherwise the value that all runs
	// have, or nil when they differ or none is known.
	Value     any   `json:"value"`
	Tokens    int64 `json:"tokens"`
	Effective int64 `json:"effective_tokens"`
	Cost      int64 `json:"cost_micros"`
	Unpriced  bool  `json:"unpriced"`
	Millis    int64 `json:"ms"`
	// What one verified change cost, with the runs that failed counted in; absent
	// without one.
	EffectivePerVerified *int64 `json:"effective_tokens_per_verified,omitempty"`
	CostPerVerified      *int64 `json:"cost_micros_per_verified,omitempty"`
}

// Rank sorts contenders: by the share of runs that succeeded, then by the metric
// in its direction, then by cost and by tokens, and those that are equal in all of
// that as they were given. The first is the winner when it has a success and
// nobody shares its place. Time decides nothing unless it is the metric: it
// differs between two runs of the same recipe.
func Rank(list []Contender, d Direction) []Standing {
	standings := make([]Standing, len(list))
	for i, c := range list {
		standings[i] = standing(c)
	}
	order := func(a, b Standing) int { return compare(a, b, d) }
	slices.SortStableFunc(standings, order)
	for i := range standings {
		standings[i].Place = i + 1
		if i > 0 && order(standings[i-1], standings[i]) == 0 {
			standings[i].Place = standings[i-1].Place
		}
	}
	if len(standings) > 0 && standings[0].Successes > 0 && (len(standings) == 1 || standings[1].Place > 1) {
		standings[0].Winner = true
	}
	return standings
}

func compare(a, b Standing, d Direction) int {
	return cmp.Or(
		// Shares as products: 2 of 3 against 1 of 2, and 0 of 0 is less than 0 of 1.
		cmp.Compare(b.Successes*max(a.Runs, 1), a.Successes*max(b.Runs, 1)),
		compareValues(a.Value, b.Value, d),
		cmp.Compare(min(b.Runs, 1), min(a.Runs, 1)),
		compareTruth(a.Unpriced, b.Unpriced),
		cmp.Compare(a.Cost, b.Cost),
		cmp.Compare(a.Tokens, b.Tokens),
	)
}

// compareValues puts the better value first, and a known one before one that is
// not. Without a direction, values are not better or worse.
func compareValues(a, b any, d Direction) int {
	if d == NoDirection {
		return 0
	}
	x, knownX := rankable(a)
	y, knownY := rankable(b)
	switch {
	case !knownX || !knownY:
		return compareTruth(!knownX, !knownY)
	case d == Lower:
		return cmp.Compare(x, y)
	}
	return cmp.Compare(y, x)
}

// rankable is a value as a number; true is more than false.
func rankable(v any) (float64, bool) {
	if b, truth := v.(bool); truth {
		if b {
			return 1, true
		}
		return 0, true
	}
	return Number(v)
}

// compareTruth puts false first.
func compareTruth(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func standing(c Contender) Standing {
	s := Standing{Name: c.Name, Runs: len(c.Runs)}
	var tokens, effective, cost, millis []int64
	var allEffective, allCost int64
	for _, r := range c.Runs {
		s.Ended += count(r.Ended)
		s.Successes += count(r.Success)
		s.Verified += count(r.Verified)
		s.Unpriced = s.Unpriced || r.Unpriced
		tokens, effective = append(tokens, r.Tokens), append(effective, r.Effective)
		cost, millis = append(cost, r.Cost), append(millis, r.Millis)
		allEffective, allCost = allEffective+r.Effective, allCost+r.Cost
	}
	s.Value = typical(c.Runs)
	s.Tokens, s.Effective, s.Cost, s.Millis = median(tokens), median(effective), median(cost), median(millis)
	if n := int64(s.Verified); n > 0 {
		effective, cost := allEffective/n, allCost/n
		s.EffectivePerVerified, s.CostPerVerified = &effective, &cost
	}
	return s
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// typical is the value that stands for all runs.
func typical(runs []Sample) any {
	var numbers []float64
	var first any
	same := true
	for i, r := range runs {
		if i == 0 {
			first = r.Value
		}
		same = same && Text(r.Value) == Text(first)
		if n, ok := Number(r.Value); ok {
			numbers = append(numbers, n)
		}
	}
	switch {
	case same:
		return first
	case len(numbers) > 0:
		return median(numbers)
	}
	return nil
}

// median is the middle of a list, or the mean of the two in the middle; 0 of an
// empty one.
func median[T int64 | float64](list []T) T {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	half := len(list) / 2
	if len(list)%2 == 1 {
		return list[half]
	}
	return list[half-1] + (list[half]-list[half-1])/2
}
