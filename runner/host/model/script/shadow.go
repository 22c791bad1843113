package script

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/host/model/script/source"
)

// shadows reports every exchange that can never answer, because an earlier one
// without a bound takes each request that it would.
func (d *decoder) shadows(s *Script) {
	for i, later := range s.Exchanges {
		for j, earlier := range s.Exchanges[:i] {
			if earlier.Times == 0 && earlier.Match.covers(later.Match) {
				d.fail(source.Place{Line: later.Line, Column: 1}, "exchange %d can never match: exchange %d (line %d) takes every request it would; "+
					"put it after this one, or bound it with times", i+1, j+1, earlier.Line)
				break
			}
		}
	}
}

// covers reports whether every request that n takes is taken by m as well. It
// may miss a case, but is never wrong when it says yes.
func (m Match) covers(n Match) bool {
	same := func(a, b string) bool { return a == "" || a == b }
	return same(m.Node, n.Node) && same(m.Model, n.Model) && same(m.Schema, n.Schema) &&
		(m.Visit == 0 || m.Visit == n.Visit) && (m.Turn == 0 || m.Turn == n.Turn) &&
		subset(m.Tools, n.Tools) &&
		// What occurs in the last message also occurs in some message.
		implied(m.Contains, n.Contains) && implied(m.Anywhere, slices.Concat(n.Anywhere, n.Contains)) &&
		// What occurs in no message does not occur in the last one either.
		excluded(m.NotContains, slices.Concat(n.NotContains, n.NotAnywhere)) && excluded(m.NotAnywhere, n.NotAnywhere)
}

func subset(of, in []string) bool {
	return !slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(in, s) })
}

// implied: each wanted text is a part of one that is known to be there.
func implied(wanted, known []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool {
		return !slices.ContainsFunc(known, func(k string) bool { return strings.Contains(k, w) })
	})
}

// excluded: each unwanted text holds one that is known not to be there.
func excluded(unwanted, known []string) bool {
	return !slices.ContainsFunc(unwanted, func(u string) bool {
		return !slices.ContainsFunc(known, func(k string) bool { return strings.Contains(u, k) })
	})
}
