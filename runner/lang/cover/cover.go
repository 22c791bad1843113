package cover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Result is what is known of a node's conditions.
type Result struct {
	Gap     string // values for which no condition holds, for people; "" when none was found
	Certain bool   // the values of Gap can really be answered
	Open    bool   // nothing can be said: something has values that cannot be listed
}

// Try looks for a case in which no edge's condition holds. All edges have
// conditions. typed tells what is read at a path, such as [output score]; its Kind
// is "" where nothing is known.
func Try(edges []*ir.Edge, typed func(path []string) ir.Field) Result {
	if covered(edges) {
		return Result{}
	}
	s := newSurvey(edges, typed)
	if s.open {
		return Result{Open: true}
	}
	gap, _ := s.uncovered(edges)
	return Result{Gap: gap, Certain: s.certain}
}

// covered reports whether a field is asked for both ways.
func covered(edges []*ir.Edge) bool {
	sides := make(map[string][2]bool)
	for _, e := range edges {
		if e.Cond.Expr != nil {
			continue
		}
		s := sides[e.Cond.Field]
		if e.Cond.Not {
			s[1] = true
		} else {
			s[0] = true
		}
		if s[0] && s[1] {
			return true
		}
		sides[e.Cond.Field] = s
	}
	return false
}

// survey tries conditions with every kind of value that what they read can have:
// all there are of bools and closed sets, and around the constants of other kinds.
type survey struct {
	names   []string // of what is read, as a person writes it
	paths   [][]string
	domains [][]any
	certain bool // a value that is found uncovered can really be answered
	open    bool // something can have values that cannot be listed
}

// mostCases bounds how many combinations are tried.
const mostCases = 4096

func newSurvey(edges []*ir.Edge, typed func(path []string) ir.Field) *survey {
	s := &survey{certain: true}
	var constants []any
	var paths [][]string
	for _, e := range edges {
		if e.Cond.Expr == nil {
			paths = append(paths, []string{"output", e.Cond.Field})
			continue
		}
		paths = append(paths, e.Cond.Expr.Reads()...)
		constants = append(constants, e.Cond.Expr.Constants()...)
	}
	slices.SortFunc(paths, slices.Compare)
	cases := 1
	for _, path := range slices.CompactFunc(paths, slices.Equal) {
		domain := sample(typed(path), constants)
		s.certain = s.certain && path[0] == "output"
		if cases *= max(len(domain), 1); len(domain) == 0 || cases > mostCases {
			s.open = true
			return s
		}
		s.names, s.paths, s.domains = append(s.names, strings.Join(path, ".")), append(s.paths, path), append(s.domains, domain)
	}
	return s
}

// sample lists values that f can have, so that comparisons with the constants come
// out in every way; nil when they cannot be listed.
func sample(f ir.Field, constants []any) []any {
	var out []any
	switch {
	case f.Kind == gates.Bool:
		return []any{true, false}
	case len(f.Enum) > 0 && f.Kind == gates.String:
		for _, text := range f.Enum {
			out = append(out, text)
		}
	case f.Kind == gates.String:
		out = append(out, "some other text")
		for _, k := range constants {
			if text, ok := k.(string); ok {
				out = append(out, text)
			}
		}
	case f.Kind == gates.Int, f.Kind == gates.Float:
		out = append(out, number(f.Kind, 0))
		for _, k := range constants {
			if x, ok := k.(float64); ok {
				out = append(out, number(f.Kind, x-1), number(f.Kind, x), number(f.Kind, x+1))
			}
		}
	}
	return out
}

func number(kind gates.Kind, x float64) any {
	if kind == gates.Int {
		return int(x)
	}
	return x
}

// uncovered finds values for which no edge's condition holds.
func (s *survey) uncovered(edges []*ir.Edge) (example string, found bool) {
	if s.open {
		return "", false
	}
	pick := make([]int, len(s.domains))
	for {
		env := s.env(pick)
		if !anyHolds(edges, env) {
			return s.said(pick), true
		}
		i := 0
		for ; i < len(pick); i++ {
			if pick[i]++; pick[i] < len(s.domains[i]) {
				break
			}
			pick[i] = 0
		}
		if i == len(pick) {
			return "", false
		}
	}
}

// anyHolds also reports true when a condition cannot be evaluated: then the run
// ends for another reason.
func anyHolds(edges []*ir.Edge, env map[string]any) bool {
	out, _ := env["output"].(map[string]any)
	for _, e := range edges {
		if holds, err := e.Cond.Holds(out, func() map[string]any { return env }); holds || err != nil {
			return true
		}
	}
	return false
}

// env is what conditions see when each path has the value picked.
func (s *survey) env(pick []int) map[string]any {
	env := make(map[string]any)
	for i, path := range s.paths {
		at := env
		for _, key := range path[:len(path)-1] {
			next, ok := at[key].(map[string]any)
			if !ok {
				next = make(map[string]any)
				at[key] = next
			}
			at = next
		}
		at[path[len(path)-1]] = s.domains[i][pick[i]]
	}
	return env
}

// said is the example in words.
func (s *survey) said(pick []int) string {
	parts := make([]string, len(pick))
	for i := range pick {
		text, _ := ir.Encode(s.domains[i][pick[i]])
		parts[i] = fmt.Sprintf("%s = %s", s.names[i], text)
	}
	return strings.Join(parts, ", ")
}
