package syntax

import (
	"math"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// workflow reads a workflow: properties, variables and edges in any order.
func (p *parser) workflow() {
	indent := p.indent
	span, name, ok := p.header()
	p.open("a property")
	w := &Workflow{Span: span, Name: name}
	p.shadowed = nil
	o := owner{"workflow", name.Name, workflowProps}
	base, b := len(p.props), below(indent)
	for p.more(&b) {
		p.workflowLine(o, w, base)
	}
	p.muted = false
	w.Props = p.settled(base)
	if ok {
		p.out.Workflows = append(p.out.Workflows, w)
	}
}

// workflowLine reads one line of a workflow and what belongs to it.
func (p *parser) workflowLine(o owner, w *Workflow, base int) {
	behind := p.following()
	name := p.text(p.tok)
	isProperty := behind == ':' || behind == '='
	switch {
	case p.tok.kind == word && isProperty && name == "vars":
		w.Vars = p.vars(w.Vars, &p.shadowed)
	case p.tok.kind == word && isProperty && strings.HasPrefix(strings.TrimLeft(p.src[p.pos:], " \t"), "=>"):
		p.edge(w)
	case p.tok.kind == word && isProperty:
		p.property(o, base)
	case p.tok.kind == word && p.misplaced(o):
	case p.tok.kind == word || p.tok.kind == bare:
		p.edge(w)
	default:
		p.unexpected("an edge or a property of " + o.String())
		p.skip(p.indent)
	}
}

// edge reads `src -> dst` and its clauses.
func (p *parser) edge(w *Workflow) {
	indent := p.indent
	e := &Edge{}
	if !p.name(&e.From, "a node") || !p.arrow() || !p.name(&e.To, "the node that the edge leads to") {
		p.skip(indent)
		return
	}
	e.Span = e.From.Span.To(e.To.Span)
	for p.tok.kind != endOfLine && p.tok.kind != endOfFile && !p.muted && !p.resync {
		p.clause(e)
	}
	w.Edges = append(w.Edges, e)
	if p.muted {
		p.skip(indent)
		return
	}
	p.endLine()
}

// arrow reads an arrow, also one that is written otherwise.
func (p *parser) arrow() bool {
	if p.tok.kind == arrow {
		p.next()
		return true
	}
	rest := p.src[p.tok.start:]
	for _, sign := range []string{"=>", "-->", "→", "⇒", "➔"} {
		if strings.HasPrefix(rest, sign) {
			at := p.span(p.tok.start, p.tok.start+len(sign))
			p.complain("P110", at, "write ->", "an edge is not written with %s", sign)
			p.pos = at.End
			p.next()
			return true
		}
	}
	p.fail("P110", p.at(p.tok), "an edge is written NODE -> NODE, a property key: value", "%s where -> or a colon is wanted", p.shown())
	return false
}

// clauseWords begin the clauses of an edge.
var clauseWords = []string{"as", "when", "with"}

// clause reads one clause of an edge.
func (p *parser) clause(e *Edge) {
	keyword := p.tok
	switch {
	case keyword.kind == word && p.text(keyword) == "when":
		p.next()
		if when := p.when(keyword); p.once(keyword, e.When == nil, func() diag.Span { return e.When.Span }) {
			e.When = when
		}
	case keyword.kind == word && p.text(keyword) == "as":
		p.next()
		if loop := p.loop(keyword); p.once(keyword, e.Loop == nil, func() diag.Span { return e.Loop.Span }) {
			e.Loop = loop
		}
	case keyword.kind == word && p.text(keyword) == "with":
		p.next()
		entries, span := p.with(keyword)
		if p.once(keyword, e.WithSpan.IsZero(), func() diag.Span { return e.WithSpan }) {
			e.With, e.WithSpan = entries, span
		}
	case keyword.kind == arrow:
		p.fail("P110", p.at(keyword), "write "+e.To.Name+" -> … on a line of its own", "an edge has one source and one target")
	case keyword.kind == word:
		p.fail("P110", p.at(keyword), diag.Suggest(p.text(keyword), clauseWords), "an edge has no clause %s", brief(p.text(keyword)))
	default:
		p.unexpected("when, as or with")
	}
}

// once reports a clause that an edge has already.
func (p *parser) once(keyword token, first bool, span func() diag.Span) bool {
	if p.muted {
		return first
	}
	if !first {
		p.again("P111", p.at(keyword), span(), "keep one of them", "the edge has two clauses %s", p.text(keyword))
	}
	return first
}

// when reads `[not] FIELD` or `"EXPR"`. It is nil when there is none.
func (p *parser) when(keyword token) *When {
	w := &When{}
	start := p.tok
	if p.tok.kind == word && p.text(p.tok) == "not" {
		p.next()
		w.Not = p.tok.kind == word || p.tok.kind == quoted || p.tok.kind == bare
	}
	switch {
	case !w.Not && start.kind == word && p.text(start) == "not":
		w.Field = Ident{p.text(start), p.at(start)}
	case p.tok.kind == quoted && w.Not:
		p.fail("P110", p.at(start), `write the not into the expression: when "not (…)"`, "not stands in front of an expression")
		return nil
	case p.tok.kind == quoted:
		w.Expr = &Value{}
		p.stringValue(w.Expr)
		w.Span = p.at(keyword).To(w.Expr.Span)
		return w
	case p.tok.kind == word && p.tok.dotted:
		p.fail("P110", p.at(p.tok), `write an expression: when "output.field == …"`, "a condition without quotes is a field of the node's own output")
		return nil
	default:
		if !p.name(&w.Field, "a field or an expression in quotes") {
			return nil
		}
	}
	w.Span = p.at(keyword).To(w.Field.Span)
	return w
}

// loop reads `NAME(N)`. It is nil when there is none.
func (p *parser) loop(keyword token) *Loop {
	l := &Loop{Max: 1}
	if !p.name(&l.Name, "the name of a loop") {
		return nil
	}
	l.Span = p.at(keyword).To(l.Name.Span)
	l.MaxSpan = l.Name.Span
	if p.tok.kind != openCount {
		p.fail("P110", l.Name.Span, "write as "+l.Name.Name+"(3)", "loop %s has no bound", l.Name.Name)
		return l
	}
	p.next()
	if p.tok.kind != number {
		p.unexpected("the number of times that the edge may be taken")
		return l
	}
	l.MaxSpan = p.at(p.tok)
	p.bound(l)
	p.next()
	if p.tok.kind != closeCount {
		p.unexpected("a closing parenthesis")
		return l
	}
	l.Span.End = p.tok.end
	p.next()
	return l
}

// bound reads the number in parentheses.
func (p *parser) bound(l *Loop) {
	text := p.text(p.tok)
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n > math.MaxInt32:
		p.complain("P144", l.MaxSpan, "a whole number from 1 on", "%s cannot be the bound of loop %s", brief(text), l.Name.Name)
	case n < 1:
		p.complain("C026", l.MaxSpan, "at least 1", "loop %s may be taken %d times", l.Name.Name, n)
	default:
		l.Max = int(n)
	}
}

// with reads the mapping of an edge.
func (p *parser) with(keyword token) ([]Entry, diag.Span) {
	opening := p.tok
	if opening.kind != openObject {
		p.fail("P110", p.at(opening), `write with { key: "value" }`, "%s where { is wanted", p.shown())
		return nil, p.at(keyword)
	}
	p.next()
	entries, ok := p.object(opening, 0)
	if !ok {
		return nil, p.at(keyword)
	}
	return p.checked(&withSpec, entries), p.span(keyword.start, p.closed)
}

// withSpec is the form of a with clause.
var withSpec = spec{name: "with", form: aConstants}
