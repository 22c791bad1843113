package symbols

import (
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/syntax/ast"
)

// segment is a name in a text, by its offsets.
type segment struct{ start, end int }

// template visits the references of a text. One that has no end on its line ends
// with the line: what is written of it already counts.
func (ix *Index) template(text ast.Text, scope Scope) {
	for at := 0; ; {
		n := strings.Index(text.Value[at:], "{{")
		if n < 0 {
			return
		}
		start := at + n
		inner, end := braces(text.Value, start)
		ix.reference(text, start, end, path(text.Value, inner, innerEnd(text.Value, end)), scope)
		at = max(end, start+2)
	}
}

// braces finds what stands between {{ at start and }}, and the end of it all.
func braces(value string, start int) (inner, end int) {
	inner = start + len("{{")
	line := len(value)
	if n := strings.IndexByte(value[inner:], '\n'); n >= 0 {
		line = inner + n
	}
	if n := strings.Index(value[inner:line], "}}"); n >= 0 {
		return inner, inner + n + len("}}")
	}
	return inner, line
}

func innerEnd(value string, end int) int { return len(strings.TrimSuffix(value[:end], "}}")) }

// path reads names and dots, perhaps inside raw( ), from start on.
func path(value string, start, end int) []segment {
	i := start
	skip := func(cut string) {
		for i < end && strings.IndexByte(cut, value[i]) >= 0 {
			i++
		}
	}
	skip(" \t")
	if strings.HasPrefix(value[i:end], "raw(") {
		i += len("raw(")
		skip(" \t")
	}
	var list []segment
	for {
		from := i
		for i < end && nameByte(value[i]) {
			i++
		}
		if i == from {
			return list
		}
		list = append(list, segment{from, i})
		if i == end || value[i] != '.' {
			return list
		}
		i++
	}
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// exprRoots are the names that a path in an expression may begin with.
var exprRoots = []string{"artifacts", "event", "input", "loop", "output", "outputs", "run", "vars"}

// expression visits the paths of an expression: root.name?.name["name"].
func (ix *Index) expression(text ast.Text, scope Scope) {
	src := text.Value
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '"' || c == '\'' || c == '`':
			i = stringEnd(src, i)
		case c >= '0' && c <= '9':
			for i < len(src) && (nameByte(src[i]) || src[i] == '.') && src[i] != '-' {
				i++
			}
		case !wordByte(c):
			i++
		default:
			i = ix.exprPath(text, i, scope)
		}
	}
}

func wordByte(c byte) bool { return nameByte(c) && c != '-' }

// exprPath visits the path whose first name begins at start and returns where it
// ends.
func (ix *Index) exprPath(text ast.Text, start int, scope Scope) int {
	src := text.Value
	i := start
	word := func() segment {
		from := i
		for i < len(src) && wordByte(src[i]) {
			i++
		}
		return segment{from, i}
	}
	list := []segment{word()}
	for {
		rest := src[i:]
		switch {
		case strings.HasPrefix(rest, "?."):
			i += 2
		case strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ".."):
			i++
		case strings.HasPrefix(rest, `["`), strings.HasPrefix(rest, `['`):
			end := stringEnd(src, i+1)
			list = append(list, segment{i + 2, max(end-1, i+2)})
			i = min(end+1, len(src))
			continue
		default:
			if (start == 0 || src[start-1] != '.') && slices.Contains(exprRoots, src[start:list[0].end]) {
				ix.reference(text, start, i, list, scope)
			}
			return i
		}
		if s := word(); s.end > s.start {
			list = append(list, s)
		}
	}
}

// stringEnd is where the string that begins at i ends, behind its quote.
func stringEnd(src string, i int) int {
	quote := src[i]
	for i++; i < len(src); i++ {
		if src[i] == '\\' && quote != '`' {
			i++
		} else if src[i] == quote {
			return i + 1
		}
	}
	return len(src)
}

// reference records one reference and the names in it.
func (ix *Index) reference(text ast.Text, start, end int, list []segment, scope Scope) {
	if len(list) == 0 {
		return
	}
	ref := Ref{Span: text.At(start, end), Scope: scope, Path: make([]Segment, len(list))}
	for i, s := range list {
		ref.Path[i] = Segment{text.Value[s.start:s.end], text.At(s.start, s.end)}
	}
	ix.refs = append(ix.refs, ref)
	if len(list) < 2 {
		return
	}
	second := ref.Path[1]
	switch ref.Path[0].Name {
	case "vars":
		ix.name(Var, second.Name, second.Span)
	case "loop":
		ix.name(Loop, second.Name, second.Span)
	case "outputs":
		ix.name(Node, second.Name, second.Span)
	case "artifacts":
		ix.name(Artifact, second.Name, second.Span)
	}
	for i := 1; i < len(list); i++ {
		if schemas := ix.schemasAt(scope, ref.Path[:i]); schemas != nil {
			ix.fields(schemas, ref.Path[i].Name, ref.Path[i].Span)
		}
	}
}
