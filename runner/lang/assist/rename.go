package assist

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// Edit puts Text in the place of what stands under Span.
type Edit struct {
	Span diag.Span
	Text string
}

// Renamable returns the name at an offset that can be changed everywhere at once,
// or an error that says why there is none.
func (d *Document) Renamable(offset int) (*symbols.Use, error) {
	u := d.Names.At(offset)
	switch {
	case u == nil:
		return nil, fmt.Errorf("no name that is declared in this file stands here")
	case len(u.Symbols) == 0:
		return nil, fmt.Errorf("%s %s is not declared in this file", u.Kind, u.Name)
	case len(u.Symbols) > 1:
		return nil, fmt.Errorf("%s names a field of several schemas: rename it where one of them declares it", u.Name)
	}
	return u, nil
}

// Rename is how the name at an offset is changed to another one, at every place
// where it stands. The error says what would break.
func (d *Document) Rename(offset int, name string) ([]Edit, error) {
	u, err := d.Renamable(offset)
	if err != nil {
		return nil, err
	}
	s := u.Symbols[0]
	switch {
	case !scan.IsName(name):
		return nil, fmt.Errorf("%q is no name: a name is made of letters, digits and _, and begins with no digit", name)
	case s.Kind == symbols.Node && (name == "done" || name == "fail"):
		return nil, fmt.Errorf("no node can be called %s: that is an end of the run", name)
	case s.Kind == symbols.Field && strings.HasPrefix(name, "_"):
		return nil, fmt.Errorf("no field can be called %s: names that begin with _ are pawl's", name)
	case name != s.Name && d.taken(s, name):
		return nil, fmt.Errorf("there is a %s %s already", s.Kind, name)
	}
	if len(d.unread) > 0 {
		e := d.unread[0]
		return nil, fmt.Errorf("mend line %d first (%s): what cannot be read would keep the old name", e.Span.Position().Line, e.Message)
	}
	if err := d.flowsOn(s); err != nil {
		return nil, err
	}
	var edits []Edit
	for _, use := range d.Names.Uses(s) {
		if len(use.Symbols) > 1 {
			return nil, fmt.Errorf("%s at line %d also reads the field of another schema: rename it by hand", s.Name, use.Span.Position().Line)
		}
		if n := len(edits); n == 0 || edits[n-1].Span != use.Span {
			edits = append(edits, Edit{use.Span, name})
		}
	}
	return edits, nil
}

func (d *Document) taken(s *symbols.Symbol, name string) bool {
	if s.Owner != nil {
		return d.Names.FieldOf(s.Owner.Name, name) != nil
	}
	return d.Names.Find(s.Kind, name) != nil
}

// flowsOn refuses a field that an edge without with passes on by its name: the
// field of another schema would have to change with it.
func (d *Document) flowsOn(s *symbols.Symbol) error {
	if s.Kind != symbols.Field || !d.twin(s) {
		return nil
	}
	for _, w := range d.Names.File.Workflows {
		for _, e := range w.Edges {
			if e.WithSpan.IsZero() && (d.has(e.From, "output", s) || d.has(e.To, "input", s)) {
				return fmt.Errorf("%s flows through %s -> %s by its name, and another schema has a field of that name: rename it by hand, or give the edge a with clause", s.Name, e.From.Name, e.To.Name)
			}
		}
	}
	return nil
}

// twin reports whether another schema has a field of the same name.
func (d *Document) twin(s *symbols.Symbol) bool {
	for _, other := range d.Names.All(symbols.Field) {
		if other.Name == s.Name && other.Owner != s.Owner {
			return true
		}
	}
	return false
}

func (d *Document) has(node ast.Ident, property string, s *symbols.Symbol) bool {
	n := d.Names.File.Node(node.Name)
	if n == nil {
		return false
	}
	v := n.Props.Value(property)
	return v != nil && v.Str == s.Owner.Name
}
