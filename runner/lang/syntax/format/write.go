package format

import (
	"strings"
	"unicode/utf8"
)

// Width is how many characters a line has at most, where something on it can be
// broken.
const Width = 100

// step is the indentation of one level.
const step = 2

// write writes a layout, which is about as long as the text that it was read from.
func write(lines layout, length int) string {
	w := &writer{}
	w.Grow(length)
	for i := range lines {
		if i > 0 && separated(lines, i) {
			w.WriteByte('\n')
		}
		w.line(&lines[i])
	}
	return w.String()
}

// separated reports whether a blank line stands before the line at i, which is not
// the first one.
func separated(lines layout, i int) bool {
	l, before := &lines[i], &lines[i-1]
	switch {
	case l.depth > before.depth:
		return false
	case l.depth == 0 && (before.depth > 0 || !before.comment):
		return true // a declaration, or the comments above it
	}
	return l.blank
}

// writer writes lines.
type writer struct{ strings.Builder }

func (w *writer) indent(columns int) {
	for range columns {
		w.WriteByte(' ')
	}
}

func (w *writer) line(l *line) {
	columns := step * l.depth
	w.indent(columns)
	w.WriteString(l.head)
	if l.group != nil {
		w.WriteByte(' ')
		w.group(l.group, columns, columns+utf8.RuneCountInString(l.head)+1)
	}
	w.tail(l.tail)
	for _, text := range l.body {
		if text != "" {
			w.indent(columns + step)
			w.WriteString(text)
		}
		w.WriteByte('\n')
	}
}

// tail ends a line, with a comment if there is one.
func (w *writer) tail(comment string) {
	if comment != "" {
		w.WriteString("  ")
		w.WriteString(comment)
	}
	w.WriteByte('\n')
}

// group writes a group that begins at a column of a line with the given
// indentation.
func (w *writer) group(g *group, indent, column int) {
	if g.size >= 0 && column+g.size <= Width {
		w.flat(g)
		return
	}
	w.WriteString(g.open)
	w.tail(g.head)
	first := true
	for i := range g.items {
		m := &g.items[i]
		w.notes(m.notes, indent+step, first)
		if m.blank && (!first || len(m.notes) > 0) {
			w.WriteByte('\n')
		}
		w.item(m, indent+step, i == len(g.items)-1)
		first = false
	}
	w.notes(g.notes, indent+step, first)
	w.indent(indent)
	w.WriteString(g.close)
}

// item writes a member on a line of its own.
func (w *writer) item(m *item, indent int, last bool) {
	w.indent(indent)
	w.WriteString(m.key)
	w.value(m.value, indent, indent+utf8.RuneCountInString(m.key)+len(","))
	if !last {
		w.WriteByte(',')
	}
	w.tail(m.tail)
}

func (w *writer) notes(notes []note, indent int, first bool) {
	for i, n := range notes {
		if n.blank && (i > 0 || !first) {
			w.WriteByte('\n')
		}
		w.indent(indent)
		w.WriteString(n.text)
		w.WriteByte('\n')
	}
}

func (w *writer) value(v value, indent, column int) {
	if v.group != nil {
		w.group(v.group, indent, column)
		return
	}
	w.WriteString(v.text)
}

// flat writes a group on one line.
func (w *writer) flat(g *group) {
	w.WriteString(g.open)
	w.WriteString(g.padding())
	for i := range g.items {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(g.items[i].key)
		if v := g.items[i].value; v.group != nil {
			w.flat(v.group)
		} else {
			w.WriteString(v.text)
		}
	}
	if g.open == "{" {
		w.WriteString(g.padding())
	}
	w.WriteString(g.close)
}
