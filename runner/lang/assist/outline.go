package assist

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
)

// Item is a line of the outline.
type Item struct {
	Name     string
	Detail   string
	Kind     symbols.Kind
	Whole    diag.Span // all of the declaration
	At       diag.Span // its name
	Children []Item
}

// Outline lists the declarations of the file in its order, with the fields of
// schemas and the variables of workflows below them.
func (d *Document) Outline() []Item {
	var list []Item
	fields := make(map[*symbols.Symbol]int)
	workflow := -1
	for _, s := range d.Names.Everything() {
		item := Item{Name: s.Name, Detail: d.detail(s), Kind: s.Kind, Whole: s.Head, At: s.At}
		switch s.Kind {
		case symbols.Field:
			i := fields[s.Owner]
			list[i].Children = append(list[i].Children, item)
			continue
		case symbols.Loop, symbols.Artifact:
			continue
		case symbols.Var:
			if workflow >= 0 && within(item.Whole, list[workflow].Whole) {
				list[workflow].Children = append(list[workflow].Children, item)
				continue
			}
		default:
			item.Whole = d.wholeBlock(s.Head)
		}
		if s.Kind == symbols.Schema {
			fields[s] = len(list)
		}
		if s.Kind == symbols.Workflow {
			workflow = len(list)
		}
		list = append(list, item)
	}
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(a.Whole.Start, b.Whole.Start) })
	return list
}

func within(inner, outer diag.Span) bool { return outer.Start <= inner.Start && inner.End <= outer.End }

// wholeBlock is a declaration from its first word to the end of what is indented
// below it.
func (d *Document) wholeBlock(head diag.Span) diag.Span {
	return diag.Span{File: d.Source, Start: head.Start, End: max(head.End, d.lineEnd(d.blockEnd(d.lineOf(head.Start))))}
}

// Fold is a run of lines that can be folded away below the first one. Lines count
// from 0.
type Fold struct {
	First, Last int
	Comment     bool
}

// Folds lists what can be folded: every line with lines indented below it, and
// runs of comments.
func (d *Document) Folds() []Fold {
	var folds []Fold
	type open struct{ line, indent int }
	var stack []open
	last, comment := -1, -1
	endComment := func(n int) {
		if comment >= 0 && n-1 > comment {
			folds = append(folds, Fold{comment, n - 1, true})
		}
		comment = -1
	}
	closeTo := func(indent int) {
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if last > top.line {
				folds = append(folds, Fold{First: top.line, Last: last})
			}
		}
	}
	for n := range d.starts {
		text := strings.TrimLeft(d.line(n), " \t")
		indent, filled := d.indent(n)
		switch {
		case filled:
			endComment(n)
			if text[0] != '}' && text[0] != ']' {
				closeTo(indent)
				stack = append(stack, open{n, indent})
			}
			last = n
		case text == "":
			endComment(n)
		case comment < 0:
			comment = n
		}
	}
	endComment(len(d.starts))
	closeTo(0)
	return folds
}
