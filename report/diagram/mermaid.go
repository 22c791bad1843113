package diagram

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/pawl-ci/pawl/report"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// What GitHub's renderer takes; more is refused whole, with an error in place of
// the picture.
const (
	maxGraphEdges = 480
	maxGraphBytes = 48_000
)

// Mermaid draws the workflow as a flowchart with the way that s took: visits and
// turns are counted, the node where the run stands is marked. w may be nil: then
// only what was walked is drawn. A zero s gives the bare workflow.
//
// The text is valid whatever the names are: nodes are numbered, and labels hold
// letters, digits and entities only. It is "" when there is nothing to draw or
// more than a renderer takes.
func Mermaid(w *ir.Workflow, s report.Summary) string {
	text := newGraph(w, s).draw(len(s.Path) > 0)
	if fits(text) {
		return text
	}
	if text = newGraph(nil, s).draw(true); fits(text) {
		return text
	}
	return ""
}

func fits(graph string) bool {
	return len(graph) <= maxGraphBytes && strings.Count(graph, "\n") <= 2*maxGraphEdges
}

// graph is a workflow with a way through it.
type graph struct {
	nodes []*vertex
	edges []*arrow
	byID  map[string]*vertex
	byEnd map[ends]*arrow
}

// ends name an arrow: two nodes may be joined by several.
type ends struct {
	from, to *vertex
	index    int
}

type vertex struct {
	id     string
	op     string
	number int
	visits int
	mark   string // class of the node where something is to be seen
	note   string // one more line of the label
}

type arrow struct {
	ends
	label string
	taken int
}

func newGraph(w *ir.Workflow, s report.Summary) *graph {
	g := &graph{byID: make(map[string]*vertex), byEnd: make(map[ends]*arrow)}
	if w != nil {
		g.addWorkflow(w)
	}
	for _, st := range s.Path {
		g.walk(st)
	}
	g.markStanding(s)
	return g
}

// addWorkflow adds what was declared. The ends that nothing leads to are left
// out: every workflow has them.
func (g *graph) addWorkflow(w *ir.Workflow) {
	for _, n := range w.Nodes {
		if _, end := n.Op.(*ir.End); !end {
			g.vertex(n.ID, opWord(n))
		}
	}
	for _, n := range w.Nodes {
		g.addResolver(w, n)
		for _, e := range n.Edges {
			if e.To != nil {
				g.arrow(ends{g.vertex(n.ID, ""), g.vertex(e.To.ID, opWord(e.To)), e.Index}, edgeLabel(e))
			}
		}
	}
}

func opWord(n *ir.Node) string {
	if n.Op == nil {
		return ""
	}
	return n.Op.Word()
}

func (g *graph) vertex(id, op string) *vertex {
	v := g.byID[id]
	if v == nil {
		v = &vertex{id: id, op: op, number: len(g.nodes)}
		g.byID[id] = v
		g.nodes = append(g.nodes, v)
	}
	return v
}

// arrow is the one between those ends; label is for a new one.
func (g *graph) arrow(e ends, label string) *arrow {
	a := g.byEnd[e]
	if a == nil {
		a = &arrow{ends: e, label: label}
		g.byEnd[e] = a
		g.edges = append(g.edges, a)
	}
	return a
}

func edgeLabel(e *ir.Edge) string {
	var parts []string
	if e.Cond != nil {
		parts = append(parts, words.Clip(words.OneLine(e.Cond.String()), maxLabel))
	}
	if e.Loop != nil {
		parts = append(parts, fmt.Sprintf("%s, at most %d", words.Clip(words.OneLine(e.Loop.Name), maxLabel), e.Loop.Max))
	}
	return strings.Join(parts, " · ")
}

// walk adds one step to the way.
func (g *graph) walk(st report.Step) {
	v := g.vertex(st.Node, st.Op)
	v.visits++
	for _, via := range st.Joined {
		g.arrow(ends{g.vertex(via.From, ""), v, via.Edge}, words.Clip(words.OneLine(via.Loop), maxLabel)).taken++
	}
	if st.Via == nil {
		return
	}
	g.arrow(ends{g.vertex(st.Via.From, ""), v, st.Via.Edge}, words.Clip(words.OneLine(st.Via.Loop), maxLabel)).taken++
}

// marks say how the last visit of a node is drawn.
var marks = map[report.StepState]struct{ class, note string }{
	report.StepArrived:     {"now", "next"},
	report.StepRunning:     {"now", "running"},
	report.StepWaiting:     {"now", "waiting for a person"},
	report.StepInterrupted: {"stopped", "interrupted"},
	report.StepFailed:      {"failed", "failed"},
}

// addResolver draws the way from a join to the agent that resolves its conflicts.
func (g *graph) addResolver(w *ir.Workflow, n *ir.Node) {
	if j, ok := n.Op.(*ir.Join); ok {
		if r := w.Resolver(j); r != nil {
			g.arrow(ends{g.vertex(n.ID, ""), g.vertex(r.ID, opWord(r)), report.ConflictEdge}, "conflict")
		}
	}
}

// markStanding marks the nodes whose last visit did not simply finish.
func (g *graph) markStanding(s report.Summary) {
	for _, st := range s.Path {
		v := g.byID[st.Node]
		m := marks[st.State]
		v.mark, v.note = m.class, m.note
		if m.class == "" {
			v.mark = "taken"
		}
		if st.Node == ir.FailID && st.State == report.StepFailed {
			v.note = "" // the name says it
		}
	}
}

// wide is the number of nodes up to which a graph is drawn from left to right.
const wide = 5

func (g *graph) draw(way bool) string {
	if len(g.nodes) == 0 {
		return ""
	}
	var b strings.Builder
	direction := "TD"
	if len(g.nodes) <= wide {
		direction = "LR"
	}
	fmt.Fprintf(&b, "flowchart %s\n", direction)
	for _, v := range g.nodes {
		v.draw(&b, way)
	}
	var taken []string
	for i, a := range g.edges {
		a.draw(&b, way)
		if a.taken > 0 {
			taken = append(taken, fmt.Sprint(i))
		}
	}
	if !way {
		return strings.TrimSuffix(b.String(), "\n")
	}
	b.WriteString(classes)
	if len(taken) > 0 {
		fmt.Fprintf(&b, "\n  linkStyle %s stroke:#1a7f37,stroke-width:3px", strings.Join(taken, ","))
	}
	return b.String()
}

// classes set the colour of the text too: the page may be light or dark.
const classes = `  classDef taken fill:#dafbe1,stroke:#1a7f37,color:#1f2328
  classDef now fill:#fff8c5,stroke:#9a6700,color:#1f2328,stroke-width:3px
  classDef stopped fill:#fff1e5,stroke:#bc4c00,color:#1f2328,stroke-width:3px
  classDef failed fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-width:3px
  classDef idle fill:#f6f8fa,stroke:#8c959f,color:#59636e,stroke-dasharray:4 3`

// shapes tell operations apart at a glance; anything else is a box.
var shapes = map[string][2]string{
	"judge": {"{{", "}}"}, "router": {"{", "}"}, "human": {"([", "])"}, "tool": {"[[", "]]"},
	"join": {"((", "))"}, "end": {"([", "])"},
}

func (v *vertex) draw(b *strings.Builder, way bool) {
	shape, ok := shapes[v.op]
	if !ok {
		shape = [2]string{"[", "]"}
	}
	text := entities(v.id)
	var facts []string
	if v.op != "" && v.op != "end" {
		facts = append(facts, entities(v.op))
	}
	if v.visits > 1 {
		facts = append(facts, fmt.Sprintf("%d visits", v.visits))
	}
	if v.note != "" {
		facts = append(facts, v.note)
	}
	if len(facts) > 0 {
		text += "<br/>" + strings.Join(facts, " · ")
	}
	class := ""
	if way {
		class = ":::idle"
		if v.mark != "" {
			class = ":::" + v.mark
		}
	}
	fmt.Fprintf(b, "  n%d%s\"%s\"%s%s\n", v.number, shape[0], text, shape[1], class)
}

func (a *arrow) draw(b *strings.Builder, way bool) {
	line := "-->"
	text := entities(a.label)
	switch {
	case a.taken > 0:
		line = "==>"
		if a.taken > 1 {
			text = strings.TrimPrefix(text+fmt.Sprintf(" · %d times", a.taken), " · ")
		}
	case way:
		line = "-.->"
	}
	if text != "" {
		text = `|"` + text + `"|`
	}
	fmt.Fprintf(b, "  n%d %s%s n%d\n", a.from.number, line, text, a.to.number)
}

// maxLabel is the length at which a name in a graph is cut off.
const maxLabel = 40

// entities writes text for use between the quotes of a mermaid label. Letters of
// any script, digits, spaces and a few harmless signs stay; everything else
// becomes an entity, so that no name can end the label or be read as syntax.
func entities(text string) string {
	var b strings.Builder
	for _, r := range cleanLabel(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _,/·…×", r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}

// cleanLabel is text that no renderer can be steered with, on one line.
func cleanLabel(text string) string { return words.Clip(words.OneLine(text), 2*maxLabel) }
