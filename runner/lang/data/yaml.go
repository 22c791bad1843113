package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// yamlReader turns the library's tree into values.
type yamlReader struct {
	reader
	lines []int // where each line begins
}

func (r reader) yaml() (root *Value, err error) {
	// The parser is known to panic on some malformed input; that must not take
	// down the program that reads a user's file.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &trouble{r.span(0, 1), "not valid YAML", ""}
		}
	}()
	y := &yamlReader{reader: r, lines: lineStarts(r.file.Text)}
	if at, many := openings(r.file.Text); many {
		return nil, y.tooDeep(maxDepth+1, r.span(at, at+1))
	}
	parsed, err := parser.ParseBytes([]byte(strings.TrimPrefix(r.file.Text, bom)), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, y.syntax(err)
	}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		first := root
		if root, err = y.value(doc.Body, 0); err != nil {
			return nil, err
		}
		if first != nil {
			return nil, &trouble{root.Span, "a second document: a file holds one", "delete it, or move it to a file of its own"}
		}
	}
	if root == nil {
		return nil, &trouble{r.span(0, 1), "the file is empty", ""}
	}
	return root, nil
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// maxOpen is how many brackets may stand open, in texts too: the parser takes
// time that grows with the square of them.
const maxOpen = 3000

// openings finds what is opened on and on: brackets, or lists within lists on one
// line.
func openings(text string) (at int, many bool) {
	open, run := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' || c == '{':
			open++
		case c == ']' || c == '}':
			open = max(open-1, 0)
		case (c == '-' || c == '?' || c == ':') && i+1 < len(text) && blank(text[i+1]):
			run++
		case !blank(c):
			run = 0
		}
		if open > maxOpen || run > maxDepth {
			return i, true
		}
	}
	return 0, false
}

func (y *yamlReader) syntax(err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		start := y.offset(syntax.Token.Position)
		return &trouble{y.span(start, start+1), "not valid YAML: " + syntax.Message, "texts with : # { [ or quotes in them stand in quotes, or below | on lines of their own"}
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return &trouble{y.span(0, 1), "not valid YAML: " + first, ""}
}

// offset translates the library's lines and columns, which count characters.
func (y *yamlReader) offset(p *token.Position) int {
	if p == nil || p.Line < 1 || p.Line > len(y.lines) {
		return 0
	}
	at := y.lines[p.Line-1]
	if p.Line == 1 {
		at += len(y.file.Text) - len(strings.TrimPrefix(y.file.Text, bom))
	}
	for range p.Column - 1 {
		_, size := utf8.DecodeRuneInString(y.file.Text[at:])
		at += size
	}
	return at
}

func (y *yamlReader) at(n ast.Node) diag.Span {
	tok := n.GetToken()
	if tok == nil {
		return y.span(0, 1)
	}
	start := y.offset(tok.Position)
	return y.span(start, start+max(len(strings.TrimSpace(tok.Value)), 1))
}

func (y *yamlReader) value(n ast.Node, depth int) (*Value, error) {
	v := &Value{Span: y.at(n)}
	if err := y.tooDeep(depth, v.Span); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		v.Kind, v.Str = Bool, strconv.FormatBool(n.Value)
	case *ast.StringNode:
		v.Kind, v.Str = Text, n.Value
		y.place(v, n.GetToken())
	case *ast.LiteralNode:
		v.Kind, v.Str = Text, n.Value.Value
		y.placeBlock(v)
	case *ast.IntegerNode:
		return y.number(v, n.Value)
	case *ast.FloatNode:
		return y.number(v, n.Value)
	case *ast.SequenceNode:
		return y.items(n, v, depth)
	case *ast.MappingNode:
		return y.object(v, n.Values, depth)
	case *ast.MappingValueNode:
		return y.object(v, []*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, &trouble{v.Span, "anchors and aliases (& and *) are not read", "write the value out, or put it in quotes"}
	case *ast.TagNode:
		return nil, &trouble{v.Span, "tags (!) are not read", "put the value in quotes"}
	default:
		return nil, &trouble{v.Span, fmt.Sprintf("%s cannot be read", n.Type().YAMLName()), "put the value in quotes"}
	}
	return v, nil
}

// number keeps the digits as they were written where JSON can say them.
func (y *yamlReader) number(v *Value, parsed any) (*Value, error) {
	v.Kind, v.Str = Number, strings.TrimSpace(v.Span.Text())
	if json.Valid([]byte(v.Str)) {
		return v, nil
	}
	encoded, err := json.Marshal(parsed)
	if err != nil {
		return nil, &trouble{v.Span, "number " + v.Str + " cannot be read", "put the value in quotes"}
	}
	v.Str = string(encoded)
	return v, nil
}

func (y *yamlReader) items(n *ast.SequenceNode, v *Value, depth int) (*Value, error) {
	v.Kind = List
	for _, item := range n.Values {
		read, err := y.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, read)
		v.Span.End = max(v.Span.End, read.Span.End)
	}
	return v, nil
}

func (y *yamlReader) object(v *Value, pairs []*ast.MappingValueNode, depth int) (*Value, error) {
	v.Kind = Object
	seen := make(keys, len(pairs))
	for i, pair := range pairs {
		key, err := y.value(pair.Key, depth+1)
		if err != nil {
			return nil, err
		}
		if key.Kind == List || key.Kind == Object || pair.Key.Type() == ast.MergeKeyType {
			return nil, &trouble{key.Span, "a key must be text", ""}
		}
		read, err := y.value(pair.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if key.Kind != Text {
			key.Str = key.Span.Text()
		}
		if i == 0 {
			v.Span.Start = min(v.Span.Start, key.Span.Start)
		}
		v.Span.End = max(v.Span.End, key.Span.End, read.Span.End)
		y.add(v, seen, Field{key.Str, key.Span, read})
	}
	return v, nil
}
