package diagram

import (
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Detail is how much a drawing of a workflow tells.
type Detail int

// The levels of detail; each one tells all that the one before it does.
const (
	Compact  Detail = iota // names, kinds, conditions and loops
	Detailed               // and the properties of nodes and of the workflow
	Full                   // and prompts, fields, mappings, expressions, the nodes of loops
)

// String is the word for the command line.
func (d Detail) String() string { return [...]string{"compact", "detailed", "full"}[d] }

// Format is the language of a drawing.
type Format string

// The formats.
const (
	MermaidFormat Format = "mermaid"
	DOTFormat     Format = "dot"
)

// Options say how a workflow is drawn.
type Options struct {
	Format    Format // "" is mermaid
	Detail    Detail
	Direction string // TD, LR, BT or RL; "" lets the size decide
	Legend    bool   // explain the shapes that occur
}

// Drawing is a drawn workflow.
type Drawing struct {
	Text   string // without a line end
	Detail Detail // what was drawn; less than was asked for where that is too large
	Nodes  int    // drawn, done and fail included where something leads to them
	Edges  int
	Fits   bool // GitHub's renderer takes it; always true in DOT
}

// Directions are the directions of a drawing.
var Directions = []string{"BT", "LR", "RL", "TD"}

// Draw draws a workflow that has not run. The text is valid whatever the names
// and texts are. In mermaid, what is too large for GitHub is drawn with less
// detail; if even the compact form is, it is drawn all the same and Fits is false.
func Draw(w *ir.Workflow, opt Options) Drawing {
	for detail := opt.Detail; ; detail-- {
		f := newFigure(w, detail)
		d := Drawing{Detail: detail, Nodes: len(f.boxes), Edges: len(f.lines), Fits: true}
		if opt.Format == DOTFormat {
			d.Text = f.dot(opt)
			return d
		}
		d.Text = f.mermaid(opt)
		d.Fits = len(d.Text) <= maxGraphBytes && len(f.lines) < maxGraphEdges
		if d.Fits || detail == Compact {
			return d
		}
	}
}

// Kinds are what a box can be; each has a shape and a colour of its own.
const (
	kindAgent   = "agent"
	kindJudge   = "judge"
	kindRouter  = "router"
	kindFanOut  = "fanout"
	kindJoin    = "join"
	kindHuman   = "human"
	kindTool    = "tool"
	kindCompute = "compute"
	kindDone    = "done"
	kindFail    = "fail"
)

// figure is what is drawn, in no language yet.
type figure struct {
	detail Detail
	about  []string // of the workflow as a whole; none when compact
	entry  int      // number of a box, or -1
	boxes  []box
	lines  []line
}

// box is a node.
type box struct {
	kind  string
	title string
	text  []string // below the title
}

// line is an edge.
type line struct {
	from, to int // numbers of boxes
	text     []string
	loop     bool // counts against a loop's bound
	parallel bool // taken together with its neighbours
}

func newFigure(w *ir.Workflow, detail Detail) *figure {
	f := &figure{detail: detail, entry: -1}
	if w == nil {
		return f
	}
	used := usedEnds(w)
	prompts := make(map[*ir.Template]string, len(w.Prompts))
	for _, p := range w.Prompts {
		prompts[p.Text] = p.Name
	}
	number := make(map[*ir.Node]int, len(w.Nodes))
	for _, n := range w.Nodes {
		if _, end := n.Op.(*ir.End); end && !used[n] {
			continue
		}
		number[n] = len(f.boxes)
		f.boxes = append(f.boxes, box{kindOf(n), n.ID, boxText(n, prompts, detail)})
	}
	if i, ok := number[w.Entry]; ok {
		f.entry = i
	}
	for _, n := range w.Nodes {
		for _, e := range n.Edges {
			to, ok := number[e.To]
			if !ok {
				continue
			}
			f.lines = append(f.lines, line{number[n], to, lineText(e, detail), e.Loop != nil, kindOf(n) == kindFanOut})
		}
	}
	if detail > Compact {
		f.about = aboutWorkflow(w, detail)
	}
	return f
}

// usedEnds are the ends that something leads to: every workflow has both, and one
// that nothing reaches says nothing.
func usedEnds(w *ir.Workflow) map[*ir.Node]bool {
	used := make(map[*ir.Node]bool)
	for _, n := range w.Nodes {
		for _, e := range n.Edges {
			used[e.To] = true
		}
	}
	return used
}

func kindOf(n *ir.Node) string {
	switch op := n.Op.(type) {
	case *ir.Route:
		if op.Mode == ir.FanOutAll || op.Multi {
			return kindFanOut
		}
		return kindRouter
	case *ir.End:
		if op.Fail {
			return kindFail
		}
		return kindDone
	case nil:
		return kindTool
	}
	return n.Op.Word()
}
