package assist

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-ci/pawl/runner/lang/lexicon"
	"github.com/pawl-ci/pawl/runner/lang/symbols"
	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
	"github.com/pawl-ci/pawl/runner/lang/syntax/grammar"
)

// propertyDoc is what the reference says about a property, in Markdown.
func (d *Document) propertyDoc(block string, spec *grammar.Property) string {
	m, _ := lexicon.Property(block, spec.Name)
	text := "`" + spec.Name + "`: " + spec.Wants()
	if spec.Form == grammar.OneOf {
		text = "`" + spec.Name + "`: one of `" + strings.Join(spec.Listed(), "` `") + "`"
	}
	if spec.Means != "" {
		text += "; another word for `" + spec.Means + "`"
	}
	if m.Default != "" {
		text += "; default: " + m.Default
	}
	if m.Text != "" {
		text += "\n\n" + m.Text
	}
	return text
}

// detail says in a few words what a symbol is.
func (d *Document) detail(s *symbols.Symbol) string {
	switch s.Kind {
	case symbols.Node:
		return string(s.Node.Kind)
	case symbols.Var:
		return string(s.Var.Type)
	case symbols.Field:
		return symbols.TypeOf(s.Field)
	case symbols.Loop:
		return "at most " + strconv.Itoa(s.Max) + " times"
	}
	return s.Kind.String()
}

// describe is what a person wants to know about a symbol, in Markdown.
func (d *Document) describe(s *symbols.Symbol) string {
	switch s.Kind {
	case symbols.Node:
		return d.describeNode(s.Node)
	case symbols.Schema:
		return fenced(schemaText(s.Schema)) + d.usedBy(s)
	case symbols.Prompt:
		return fenced("prompt "+s.Name+":\n"+cut(indented(s.Prompt.Body.Value))) + d.usedBy(s)
	case symbols.Field:
		return fenced(fieldText(s.Field)) + "\n\nField of schema `" + s.Owner.Name + "`."
	case symbols.Var:
		return fenced(varText(s.Var)) + "\n\n" + varNote(s.Var)
	case symbols.Server:
		return fenced(cut(d.block(s)))
	case symbols.Loop:
		return d.describeLoop(s)
	case symbols.Artifact:
		return "Artifact `" + s.Name + "`: each output of the node that publishes it is a version." + d.usedBy(s)
	case symbols.Workflow:
		return fmt.Sprintf("%s\n\n%d edges, %d nodes.", fenced("workflow "+s.Name), len(s.Workflow.Edges), len(d.Names.All(symbols.Node)))
	}
	return ""
}

// fenced is text as a block of code, whatever it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "iter\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// What is shown of a long text.
const (
	mostLines = 24
	mostBytes = 2000
)

// cut is the beginning of a text that is too long to be read in passing.
func cut(text string) string {
	short := text
	if lines := strings.SplitAfterN(short, "\n", mostLines+1); len(lines) > mostLines {
		short = strings.Join(lines[:mostLines], "")
	}
	if len(short) > mostBytes {
		short = short[:mostBytes]
		for !utf8.ValidString(short) && len(short) > mostBytes-utf8.UTFMax {
			short = short[:len(short)-1]
		}
	}
	if len(short) < len(text) {
		short = strings.TrimRight(short, "\n") + "\n  …"
	}
	return short
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// block is a declaration as it is written.
func (d *Document) block(s *symbols.Symbol) string {
	line := d.lineOf(s.Head.Start)
	return d.Source.Text[d.starts[line]:d.lineEnd(d.blockEnd(line))]
}

func fieldText(f *ast.Field) string {
	text := f.Name.Name
	if f.Optional {
		text += "?"
	}
	text += ": " + string(f.Type)
	for i := range f.Enum {
		if i == 0 {
			text += " [enum: "
		} else {
			text += ", "
		}
		text += strconv.Quote(f.Enum[i].Str)
	}
	if len(f.Enum) > 0 {
		text += "]"
	}
	return text
}

func schemaText(s *ast.Schema) string {
	text := "schema " + s.Name.Name + ":\n"
	for i := range s.Fields {
		text += "  " + fieldText(&s.Fields[i]) + "\n"
	}
	return cut(text)
}

func varText(v *ast.Var) string {
	text := v.Name.Name + ": " + string(v.Type)
	if v.Default != nil {
		text += " = " + v.Default.Span.Text()
	}
	return cut(text)
}

func varNote(v *ast.Var) string {
	if v.Default == nil {
		return "Variable without a default: it must be given, for example with `--var " + v.Name.Name + "=…`."
	}
	return "Variable; `--var " + v.Name.Name + "=…` sets it."
}

// usedBy lists the nodes in whose lines a symbol stands.
func (d *Document) usedBy(s *symbols.Symbol) string {
	var names []string
	for _, u := range d.Names.Uses(s) {
		if u.Def && s.Kind != symbols.Artifact {
			continue
		}
		chain := d.above(d.lineOf(u.Span.Start), 1)
		if len(chain) == 0 || chain[0].word(1) == "" {
			continue
		}
		if name := "`" + chain[0].word(1) + "`"; len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "\n\nNot used."
	}
	if more := len(names) - mostEdges; more > 0 {
		names = append(names[:mostEdges], fmt.Sprintf("%d more", more))
	}
	return "\n\nIn " + strings.Join(names, ", ") + "."
}

// mostEdges is how many edges of a node are shown.
const mostEdges = 12

// shown are the properties that say what a node is.
var shown = []string{"mode", "strategy", "model", "backend", "uses", "command", "session", "tools", "instructions", "system", "user", "input", "output", "publish"}

// describeNode shows a node's header and main properties, its schemas, its edges.
func (d *Document) describeNode(n *ast.Node) string {
	text := string(n.Kind) + " " + n.Name.Name + ":\n"
	for _, key := range shown {
		if p := n.Props.Get(key); p != nil {
			value, _, more := strings.Cut(p.Value.Span.Text(), "\n")
			if more {
				value += " …"
			}
			text += "  " + p.Name.Text() + ": " + value + "\n"
		}
	}
	md := fenced(text)
	for _, key := range []string{"input", "output"} {
		if v := n.Props.Value(key); v != nil {
			if s := d.Names.File.Schema(v.Str); s != nil {
				md += "\n\n" + key + ":\n" + fenced(schemaText(s))
			}
		}
	}
	out, in := d.Names.Edges(n.Name.Name)
	return md + edgesText("Leads to", out) + edgesText("Comes from", in)
}

func edgesText(title string, edges []*ast.Edge) string {
	if len(edges) == 0 {
		return ""
	}
	text := ""
	for i, e := range edges {
		if i == mostEdges {
			text += fmt.Sprintf("## %d more\n", len(edges)-i)
			break
		}
		text += EdgeText(e) + "\n"
	}
	return "\n\n" + title + ":\n" + fenced(text)
}

// EdgeText is an edge on one line, without its mapping.
func EdgeText(e *ast.Edge) string {
	text := e.From.Name + " -> " + e.To.Name
	if e.When != nil {
		text += " " + strings.Join(strings.Fields(e.When.Span.Text()), " ")
	}
	if e.Loop != nil {
		text += " as " + e.Loop.Name.Name + "(" + strconv.Itoa(e.Loop.Max) + ")"
	}
	return text
}

func (d *Document) describeLoop(s *symbols.Symbol) string {
	var edges []*ast.Edge
	for _, w := range d.Names.File.Workflows {
		for _, e := range w.Edges {
			if e.Loop != nil && e.Loop.Name.Name == s.Name {
				edges = append(edges, e)
			}
		}
	}
	return fmt.Sprintf("Loop `%s`: its edges may be taken %d times, all together, each time the loop is entered.", s.Name, s.Max) + edgesText("Edges", edges)
}
