package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// look is how a kind of node is drawn: the brackets of mermaid's shape, the name
// of DOT's, and colours that can be read on light and on dark pages.
type look struct {
	kind        string
	open, close string
	dot         string
	fill, edge  string
	says        string // in the legend
}

var looks = []look{
	{kindAgent, "[", "]", "box", "#ddf4ff", "#0969da", "agent: a model works"},
	{kindJudge, "{{", "}}", "hexagon", "#fbefff", "#8250df", "judge: a model decides"},
	{kindTool, "[[", "]]", "component", "#f6f8fa", "#57606a", "tool: a command"},
	{kindCompute, "(", ")", "note", "#f6f8fa", "#57606a", "compute: expressions"},
	{kindHuman, "([", "])", "box3d", "#fff8c5", "#9a6700", "human: a person is asked"},
	{kindRouter, "{", "}", "diamond", "#fff1e5", "#bc4c00", "router: one way of several"},
	{kindFanOut, `[/`, `\]`, "trapezium", "#fff1e5", "#bc4c00", "router: several ways at once"},
	{kindJoin, `[\`, `/]`, "invtrapezium", "#fff1e5", "#bc4c00", "join: branches meet"},
	{kindDone, "(((", ")))", "doublecircle", "#dafbe1", "#1a7f37", "done"},
	{kindFail, "(((", ")))", "doublecircle", "#ffebe9", "#cf222e", "fail"},
}

// ink is the colour of the text: the page may be light or dark.
const ink = "#1f2328"

func lookOf(kind string) look {
	i := slices.IndexFunc(looks, func(l look) bool { return l.kind == kind })
	if i < 0 {
		i = 0
	}
	return looks[i]
}

// direction is the one asked for, or what suits the size.
func (f *figure) direction(opt Options) string {
	if opt.Direction != "" {
		return opt.Direction
	}
	if f.detail == Compact && len(f.boxes) <= wide {
		return "LR"
	}
	return "TD"
}

// mermaid draws the figure as a flowchart.
func (f *figure) mermaid(opt Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "flowchart %s\n", f.direction(opt))
	if f.about != nil {
		fmt.Fprintf(&b, "  about>\"%s\"]:::about\n", label(f.about...))
	}
	if f.entry >= 0 {
		b.WriteString("  start((\" \")):::start\n")
	}
	for i, x := range f.boxes {
		l := lookOf(x.kind)
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s:::%s\n", i, l.open, label(append([]string{x.title}, x.text...)...), l.close, l.kind)
	}
	if f.entry >= 0 {
		fmt.Fprintf(&b, "  start --> n%d\n", f.entry)
	}
	for _, x := range f.lines {
		text := label(x.text...)
		if text != "" {
			text = `|"` + text + `"|`
		}
		fmt.Fprintf(&b, "  n%d %s%s n%d\n", x.from, x.arrow(), text, x.to)
	}
	f.legend(&b, opt)
	f.classes(&b, opt)
	return strings.TrimSuffix(b.String(), "\n")
}

// arrow is the line's stroke: dotted when it counts, thick when it does not go
// alone.
func (x line) arrow() string {
	switch {
	case x.loop:
		return "-.->"
	case x.parallel:
		return "==>"
	}
	return "-->"
}

// legend explains the shapes and lines that occur.
func (f *figure) legend(b *strings.Builder, opt Options) {
	if !opt.Legend {
		return
	}
	b.WriteString("  subgraph legend [\"legend\"]\n")
	for _, l := range f.looks() {
		fmt.Fprintf(b, "    l_%s%s\"%s\"%s:::%s\n", l.kind, l.open, label(l.says), l.close, l.kind)
	}
	for i, s := range f.strokes() {
		fmt.Fprintf(b, "    l_a%d((\" \")):::start %s|\"%s\"| l_b%d((\" \")):::start\n", i, s.arrow(), label(s.text...), i)
	}
	b.WriteString("  end\n")
}

// looks are those of the kinds that occur.
func (f *figure) looks() []look {
	return slices.DeleteFunc(slices.Clone(looks), func(l look) bool {
		return !slices.ContainsFunc(f.boxes, func(x box) bool { return x.kind == l.kind })
	})
}

// strokes are the unusual kinds of lines that occur, with what they mean.
func (f *figure) strokes() []line {
	var all []line
	if slices.ContainsFunc(f.lines, func(x line) bool { return x.loop }) {
		all = append(all, line{loop: true, text: []string{"counts against a loop's bound"}})
	}
	if slices.ContainsFunc(f.lines, func(x line) bool { return x.parallel && !x.loop }) {
		all = append(all, line{parallel: true, text: []string{"taken side by side"}})
	}
	return all
}

func (f *figure) classes(b *strings.Builder, opt Options) {
	for _, l := range f.looks() {
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:%s\n", l.kind, l.fill, l.edge, ink)
	}
	if f.entry >= 0 {
		fmt.Fprintf(b, "  classDef start fill:%s,stroke:%s\n", ink, "#8c959f")
	}
	if f.about != nil {
		fmt.Fprintf(b, "  classDef about fill:#ffffff,stroke:#8c959f,color:%s,stroke-dasharray:4 3\n", ink)
	}
	if opt.Legend {
		fmt.Fprintf(b, "  style legend fill:#ffffff,stroke:#8c959f,color:%s\n", ink)
	}
}

// label joins lines of text for use between the quotes of a mermaid label.
func label(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, l := range lines {
		escaped[i] = entities(l)
	}
	return strings.Join(escaped, "<br/>")
}

// dot draws the figure in the language of Graphviz.
func (f *figure) dot(opt Options) string {
	direction := cmp.Or(map[string]string{"TD": "TB"}[f.direction(opt)], f.direction(opt))
	var b strings.Builder
	b.WriteString("digraph workflow {\n")
	fmt.Fprintf(&b, "  graph [rankdir=%s, fontname=\"Helvetica\"];\n", direction)
	fmt.Fprintf(&b, "  node [style=filled, fontname=\"Helvetica\", fontcolor=\"%s\"];\n", ink)
	b.WriteString("  edge [fontname=\"Helvetica\", fontsize=11];\n")
	if f.about != nil {
		fmt.Fprintf(&b, "  about [shape=note, style=dashed, label=%s];\n", quoted(`\l`, f.about...))
	}
	if f.entry >= 0 {
		b.WriteString("  start [shape=point, width=0.15];\n")
	}
	for i, x := range f.boxes {
		l := lookOf(x.kind)
		fmt.Fprintf(&b, "  n%d [shape=%s, fillcolor=\"%s\", color=\"%s\", label=%s];\n", i, l.dot, l.fill, l.edge, quoted(`\n`, append([]string{x.title}, x.text...)...))
	}
	if f.entry >= 0 {
		fmt.Fprintf(&b, "  start -> n%d;\n", f.entry)
	}
	for _, x := range f.lines {
		fmt.Fprintf(&b, "  n%d -> n%d%s;\n", x.from, x.to, x.attributes())
	}
	f.dotLegend(&b, opt)
	b.WriteString("}")
	return b.String()
}

func (x line) attributes() string {
	var all []string
	if len(x.text) > 0 {
		all = append(all, "label="+quoted(`\n`, x.text...))
	}
	switch {
	case x.loop:
		all = append(all, "style=dashed")
	case x.parallel:
		all = append(all, "style=bold")
	}
	if all == nil {
		return ""
	}
	return " [" + strings.Join(all, ", ") + "]"
}

func (f *figure) dotLegend(b *strings.Builder, opt Options) {
	if !opt.Legend {
		return
	}
	b.WriteString("  subgraph cluster_legend {\n    label=\"legend\";\n")
	for _, l := range f.looks() {
		fmt.Fprintf(b, "    l_%s [shape=%s, fillcolor=\"%s\", color=\"%s\", label=%s];\n", l.kind, l.dot, l.fill, l.edge, quoted(`\n`, l.says))
	}
	for i, s := range f.strokes() {
		fmt.Fprintf(b, "    l_a%d [shape=point]; l_b%d [shape=point]; l_a%d -> l_b%d%s;\n", i, i, i, i, s.attributes())
	}
	b.WriteString("  }\n")
}

// quoted is lines of text as one string of DOT. A backslash and an ampersand mean
// something inside of it, so they are doubled and spelt out.
func quoted(lineEnd string, lines ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)
	var b strings.Builder
	b.WriteByte('"')
	for i, l := range lines {
		if i > 0 {
			b.WriteString(lineEnd)
		}
		b.WriteString(escape.Replace(cleanLabel(l)))
	}
	if lineEnd == `\l` {
		b.WriteString(lineEnd)
	}
	b.WriteByte('"')
	return b.String()
}
