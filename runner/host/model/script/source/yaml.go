package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ReadYAML reads one YAML document; file is its name in errors, which are
// *[Error]. Anchors, aliases and tags are refused: they would let a short file
// become a huge value.
func ReadYAML(file string, data []byte) (root *Value, err error) {
	// The parser is known to panic on some malformed input; that must not take
	// down the program that reads a user's file.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &Error{File: file, Place: Place{1, 1}, Message: "not valid YAML"}
		}
	}()
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(file, err)
	}
	y := yamlReader{file: file}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, y.fail(doc.Body, "a second document: a script is one document")
		}
		if root, err = y.value(doc.Body); err != nil {
			return nil, err
		}
	}
	if root == nil {
		return nil, &Error{File: file, Place: Place{1, 1}, Message: "the script is empty: want exchanges"}
	}
	return root, nil
}

func yamlError(file string, err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		at := syntax.Token.Position
		return &Error{File: file, Place: Place{at.Line, at.Column}, Message: syntax.Message}
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return &Error{File: file, Place: Place{1, 1}, Message: "not valid YAML: " + first}
}

type yamlReader struct{ file string }

func where(n ast.Node) Place {
	if at := n.GetToken(); at != nil && at.Position != nil {
		return Place{at.Position.Line, at.Position.Column}
	}
	return Place{1, 1}
}

func (y yamlReader) fail(n ast.Node, message string) error {
	at := where(n)
	return &Error{File: y.file, Place: at, Message: message}
}

func (y yamlReader) value(n ast.Node) (*Value, error) {
	v := &Value{At: where(n)}
	switch n := n.(type) {
	case *ast.NullNode:
		v.Kind, v.Text = Null, "null"
	case *ast.BoolNode:
		v.Kind, v.Text = Boolean, strconv.FormatBool(n.Value)
	case *ast.StringNode:
		v.Kind, v.Text = Text, n.Value
	case *ast.LiteralNode:
		v.Kind, v.Text = Text, n.Value.Value
	case *ast.IntegerNode:
		return y.number(n, v, n.Value)
	case *ast.FloatNode:
		return y.number(n, v, n.Value)
	case *ast.SequenceNode:
		return y.list(n, v)
	case *ast.MappingNode:
		return y.object(n, v)
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, y.fail(n, "anchors and aliases (& and *) are not read in a script: write the value out, or put it in quotes")
	case *ast.TagNode:
		return nil, y.fail(n, "tags (!) are not read in a script: put the value in quotes")
	default:
		return nil, y.fail(n, fmt.Sprintf("%s has no JSON form: put the value in quotes", n.Type().YAMLName()))
	}
	return v, nil
}

// number keeps the digits as they were written where JSON can say them.
func (y yamlReader) number(n ast.Node, v *Value, parsed any) (*Value, error) {
	v.Kind, v.Source = Number, n.GetToken().Value
	v.Text = v.Source
	if !json.Valid([]byte(v.Text)) {
		encoded, err := json.Marshal(parsed)
		if err != nil {
			return nil, y.fail(n, fmt.Sprintf("number %s has no JSON form: put the value in quotes", v.Source))
		}
		v.Text = string(encoded)
	}
	return v, nil
}

func (y yamlReader) list(n *ast.SequenceNode, v *Value) (*Value, error) {
	v.Kind = List
	for _, item := range n.Values {
		read, err := y.value(item)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, read)
	}
	return v, nil
}

func (y yamlReader) object(n *ast.MappingNode, v *Value) (*Value, error) {
	v.Kind = Object
	for i, pair := range n.Values {
		name, ok := pair.Key.(*ast.StringNode)
		if !ok {
			return nil, y.fail(pair.Key, "a key must be text: put it in quotes")
		}
		read, err := y.value(pair.Value)
		if err != nil {
			return nil, err
		}
		v.Fields = append(v.Fields, Field{where(name), name.Value, read})
		if i == 0 && !n.IsFlowStyle {
			v.At = where(name)
		}
	}
	return v, nil
}
