package format

import (
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// read takes a file apart whose form is right.
func read(text string) layout {
	r := &reader{Scanner: scan.Scanner{Src: text, Odd: func(scan.Oddity, int, int) {}}}
	start := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	r.prev = start
	for r.Line(start); r.Tok.Kind != scan.EndOfFile; {
		r.comments()
		r.statement()
	}
	r.comments()
	settle(r.out)
	return r.out
}

// reader goes through a file line by line.
type reader struct {
	scan.Scanner
	out    layout
	blocks []block // those that are open, outermost first
	prev   int     // where what was read last ends
	noted  int     // how many of the scanner's comments were read
}

// blockKind is what stands in a block.
type blockKind int

const (
	declarations blockKind = iota // the file itself
	variables
	fields
	properties
	entries // keys that the author names
)

// block is what a statement opens when more follows indented below it.
type block struct {
	kind   blockKind
	indent int // of the statement
	props  []grammar.Property
	edges  bool // also edges and variables: a workflow
}

// take returns the token as it is written and moves on.
func (r *reader) take() string {
	text := r.Text(r.Tok)
	r.prev = r.Tok.End
	r.Next()
	return text
}

func (r *reader) lineEnds() bool {
	return r.Tok.Kind == scan.EndOfLine || r.Tok.Kind == scan.EndOfFile
}

// blank reports whether a blank line stands between what was read last and the
// byte at.
func (r *reader) blank(at int) bool { return strings.Count(r.Src[r.prev:at], "\n") > 1 }

// pending reports whether the scanner has come past a comment that was not read.
func (r *reader) pending() bool { return r.noted < len(r.Comments) }

// note reads the next comment that is pending.
func (r *reader) note() note {
	c := r.Comments[r.noted]
	n := note{text: r.Src[c[0]:c[1]], blank: r.blank(c[0])}
	if !strings.HasPrefix(n.text, "##") {
		n.text = "#" + n.text
	}
	r.noted++
	r.prev = c[1]
	return n
}

// comments reads the comments above the current statement.
func (r *reader) comments() {
	for r.pending() {
		column := column(r.Src, r.Comments[r.noted][0])
		depth := 0
		for depth < len(r.blocks) && r.blocks[depth].indent < column {
			depth++
		}
		n := r.note()
		r.out = append(r.out, line{comment: true, depth: depth, head: n.text, blank: n.blank})
	}
}

// tabColumns is how deep a tab before a comment indents it, as for statements.
const tabColumns = 2

// column is how deep the line is indented whose first sign stands at i.
func column(src string, i int) int {
	columns := 0
	for ; i > 0 && (src[i-1] == ' ' || src[i-1] == '\t'); i-- {
		columns++
		if src[i-1] == '\t' {
			columns += tabColumns - 1
		}
	}
	return columns
}

// settle moves comments that are less indented than what follows them.
func settle(lines layout) {
	next := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].comment {
			lines[i].depth = max(lines[i].depth, next)
		}
		next = lines[i].depth
	}
}

// statement reads one statement, with the text below it if it has one.
func (r *reader) statement() {
	indent := r.Indent
	for len(r.blocks) > 0 && indent <= r.blocks[len(r.blocks)-1].indent {
		r.blocks = r.blocks[:len(r.blocks)-1]
	}
	l := line{depth: len(r.blocks), blank: r.blank(r.First)}
	below, text := r.parts(&l)
	if r.pending() {
		l.tail = r.note().text
	}
	if text {
		body := r.Body(indent)
		if body.Value != "" {
			l.body = strings.Split(body.Value, "\n")
			r.prev = body.End
		}
	} else {
		r.NextLine()
	}
	r.out = append(r.out, l)
	if below != nil {
		below.indent = indent
		r.blocks = append(r.blocks, *below)
	}
}

// parts reads the tokens of a statement. below is the block that it opens, or nil;
// text says that lines of text follow it.
func (r *reader) parts(l *line) (below *block, text bool) {
	if len(r.blocks) == 0 {
		return r.header(l)
	}
	b := r.blocks[len(r.blocks)-1]
	switch b.kind {
	case variables:
		r.variable(l)
	case fields:
		r.field(l)
	case entries:
		l.head = r.key(word)
		l.append(r.value(json))
	case properties:
		if b.edges && r.Following() != ':' {
			r.edge(l)
			return nil, false
		}
		return r.property(l, b)
	}
	return nil, false
}

// append puts a value behind what a statement begins with.
func (l *line) append(v value) {
	if l.group = v.group; v.group == nil {
		l.head += v.text
		return
	}
	l.head = strings.TrimSuffix(l.head, " ")
}

// header reads `KIND NAME:`.
func (r *reader) header(l *line) (below *block, text bool) {
	kind := r.take()
	l.head = kind + ":"
	if r.Tok.Kind == scan.Word {
		l.head = kind + " " + r.take() + ":"
	}
	r.take()
	switch kind {
	case "prompt":
		return nil, true
	case "vars":
		return &block{kind: variables}, false
	case "schema":
		return &block{kind: fields}, false
	case "mcp_server":
		return &block{kind: properties, props: grammar.Server}, false
	case "workflow":
		return &block{kind: properties, props: grammar.Workflow, edges: true}, false
	}
	return &block{kind: properties, props: grammar.Node(kind)}, false
}

// variable reads `name: type = default`.
func (r *reader) variable(l *line) {
	l.head = r.take()
	r.take()
	l.head += ": " + r.typ()
	if r.Tok.Kind == scan.Equals {
		r.take()
		l.head += " = "
		l.append(r.value(json))
	}
}

// field reads `name?: type [enum: "a", "b"]`.
func (r *reader) field(l *line) {
	l.head = r.take()
	if r.Tok.Kind == scan.Question {
		l.head += r.take()
	}
	r.take()
	l.head += ": " + r.typ()
	if r.Tok.Kind == scan.OpenList {
		l.append(r.value(asWritten))
	}
}

// typ reads a type, with the brackets that belong to it.
func (r *reader) typ() string {
	name := r.take()
	if strings.HasPrefix(r.Src[r.prev:], "[]") {
		name += r.take() + r.take()
	}
	return name
}

// property reads `key: value`, or the key of what stands below it.
func (r *reader) property(l *line, b block) (below *block, text bool) {
	key := r.take()
	r.take()
	l.head = key + ":"
	if b.edges && key == "vars" {
		return &block{kind: variables}, false
	}
	p := grammar.Find(b.props, key)
	if r.lineEnds() {
		switch p.Form {
		case grammar.Command:
			return nil, true
		case grammar.Block:
			return &block{kind: properties, props: p.Props}, false
		}
		return &block{kind: entries}, false
	}
	l.head += " "
	l.append(r.value(styleOf(p)))
	return nil, false
}

// edge reads `src -> dst` and its clauses, and puts these in order.
func (r *reader) edge(l *line) {
	l.head = r.take() + " " + r.take() + " " + r.take()
	var when, loop, with string
	var mapping value
	for !r.lineEnds() {
		switch clause := r.take(); clause {
		case "when":
			when = r.when()
		case "as":
			loop = " as " + r.take() + r.take() + r.take() + r.take()
		case "with":
			with, mapping = " with", r.value(word)
		}
	}
	l.head += when + loop + with
	l.group = mapping.group
}

// when reads a condition behind its keyword.
func (r *reader) when() string {
	condition := r.take()
	if condition == "not" && (r.Tok.Kind == scan.Word || r.Tok.Kind == scan.Quoted) {
		condition += " " + r.take()
	}
	return " when " + condition
}
