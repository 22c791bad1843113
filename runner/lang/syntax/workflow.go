package syntax

import (
	"math"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// workflow reads a workflow: properties, variables and edges in any order.
func (p *parser) workflow() {
	indent := p.Indent
	span, name, ok := p.header()
	p.open("a property")
	w := &Workflow{Span: span, Name: name}
	p.shadowed = make(map[string]diag.Span)
	o := owner{"workflow", name.Name, grammar.Workflow}
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
	behind := p.Following()
	name := p.Text(p.Tok)
	isProperty := behind == ':' || behind == '='
	switch {
	case p.Tok.Kind == scan.Word && isProperty && name == "vars":
		w.Vars = p.vars(w.Vars, p.shadowed)
	case p.Tok.Kind == scan.Word && isProperty && strings.HasPrefix(strings.TrimLeft(p.Src[p.Pos:], " \t"), "=>"):
		p.edge(w)
	case p.Tok.Kind == scan.Word && isProperty:
		p.property(o, base)
	case p.Tok.Kind == scan.Word && p.misplaced(o):
	case p.Tok.Kind == scan.Word || p.Tok.Kind == scan.Bare:
		p.edge(w)
	default:
		p.unexpected("an edge or a property of " + o.String())
		p.skip(p.Indent)
	}
}

// edge reads `src -> dst` and its clauses.
func (p *parser) edge(w *Workflow) {
	indent := p.Indent
	e := &Edge{}
	if !p.name(&e.From, "a node") || !p.arrow() || !p.name(&e.To, "the node that the edge leads to") {
		p.skip(indent)
		return
	}
	e.Span = e.From.Span.To(e.To.Span)
	for p.Tok.Kind != scan.EndOfLine && p.Tok.Kind != scan.EndOfFile && !p.muted && !p.resync {
		if p.Tok.Kind == scan.Junk {
			p.stray()
			break
		}
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
	if p.Tok.Kind == scan.Arrow {
		p.Next()
		return true
	}
	rest := p.Src[p.Tok.Start:]
	for _, sign := range []string{"=>", "-->", "→", "⇒", "➔"} {
		if strings.HasPrefix(rest, sign) {
			at := p.span(p.Tok.Start, p.Tok.Start+len(sign))
			p.complain("P110", at, "write ->", "an edge is not written with %s", sign)
			p.Pos = at.End
			p.Next()
			return true
		}
	}
	p.fail("P110", p.at(p.Tok), "an edge is written NODE -> NODE, a property key: value", "%s where -> or a colon is wanted", p.shown())
	return false
}

// clause reads one clause of an edge.
func (p *parser) clause(e *Edge) {
	keyword := p.Tok
	word := p.Text(keyword)
	p.Next()
	switch {
	case word == "when":
		when := p.when(keyword)
		if e.When != nil {
			p.repeatedClause(keyword, e.When.Span)
			return
		}
		e.When = when
	case word == "as":
		loop := p.loop(keyword)
		if e.Loop != nil {
			p.repeatedClause(keyword, e.Loop.Span)
			return
		}
		e.Loop = loop
	case word == "with":
		entries, span := p.with(keyword)
		if !e.WithSpan.IsZero() {
			p.repeatedClause(keyword, e.WithSpan)
			return
		}
		e.With, e.WithSpan = entries, span
	case keyword.Kind == scan.Arrow:
		p.fail("P110", p.at(keyword), "write "+e.To.Name+" -> … on a line of its own", "an edge has one source and one target")
	case keyword.Kind == scan.Word:
		p.fail("P110", p.at(keyword), diag.Suggest(word, grammar.Clauses), "an edge has no clause %s", diag.Brief(word))
	default:
		p.fail("P100", p.at(keyword), "", "%s where when, as or with is wanted", p.named(keyword))
	}
}

func (p *parser) repeatedClause(keyword scan.Token, first diag.Span) {
	p.again("P111", p.at(keyword), first, "keep one of them", "the edge has two clauses %s", p.Text(keyword))
}

// when reads `[not] FIELD` or `"EXPR"`. It is nil when there is none.
func (p *parser) when(keyword scan.Token) *When {
	w := &When{}
	start := p.Tok
	if p.Tok.Kind == scan.Word && p.Text(p.Tok) == "not" {
		p.Next()
		w.Not = p.Tok.Kind == scan.Word || p.Tok.Kind == scan.Quoted || p.Tok.Kind == scan.Bare
	}
	switch {
	case !w.Not && start.Kind == scan.Word && p.Text(start) == "not":
		w.Field = Ident{Name: p.Text(start), Span: p.at(start)}
	case p.Tok.Kind == scan.Quoted && w.Not:
		p.fail("P110", p.at(start), `write the not into the expression: when "not (…)"`, "not stands in front of an expression")
		return nil
	case p.Tok.Kind == scan.Quoted:
		w.Expr = &Value{}
		p.stringValue(w.Expr)
		w.Span = p.at(keyword).To(w.Expr.Span)
		return w
	case p.Tok.Kind == scan.Word && p.Tok.Dotted:
		p.fail("P110", p.at(p.Tok), `write an expression: when "output.field == …"`, "a condition without quotes is a field of the node's own output")
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
func (p *parser) loop(keyword scan.Token) *Loop {
	l := &Loop{Max: 1}
	if !p.name(&l.Name, "the name of a loop") {
		return nil
	}
	l.Span = p.at(keyword).To(l.Name.Span)
	l.MaxSpan = l.Name.Span
	if p.Tok.Kind != scan.OpenCount {
		p.fail("P110", l.Name.Span, "write as "+l.Name.Name+"(3)", "loop %s has no bound", l.Name.Name)
		return l
	}
	p.Next()
	if p.Tok.Kind != scan.Number {
		p.unexpected("the number of times that the edge may be taken")
		return l
	}
	l.MaxSpan = p.at(p.Tok)
	p.bound(l)
	p.Next()
	if p.Tok.Kind != scan.CloseCount {
		p.unexpected("a closing parenthesis")
		return l
	}
	l.Span.End = p.Tok.End
	p.Next()
	return l
}

// bound reads the number in parentheses.
func (p *parser) bound(l *Loop) {
	text := p.Text(p.Tok)
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n > math.MaxInt32:
		p.complain("P144", l.MaxSpan, "a whole number from 1 on", "%s cannot be the bound of loop %s", diag.Brief(text), l.Name.Name)
	case n < 1:
		p.complain("C026", l.MaxSpan, "at least 1", "loop %s may be taken %d times", l.Name.Name, n)
	default:
		l.Max = int(n)
	}
}

// with reads the mapping of an edge.
func (p *parser) with(keyword scan.Token) ([]Entry, diag.Span) {
	opening := p.Tok
	if opening.Kind != scan.OpenObject {
		p.fail("P110", p.at(opening), `write with { key: "value" }`, "%s where { is wanted", p.shown())
		return nil, p.at(keyword)
	}
	p.Next()
	entries, ok := p.object(opening, 0)
	if !ok {
		return nil, p.at(keyword)
	}
	return p.checked(&grammar.With, entries), p.span(keyword.Start, p.closed)
}
