package syntax

import "github.com/pawl-ci/pawl/runner/lang/syntax/ast"

// The tree, as package ast describes it.
type (
	Edge      = ast.Edge
	Entry     = ast.Entry
	Field     = ast.Field
	File      = ast.File
	Ident     = ast.Ident
	Loop      = ast.Loop
	Node      = ast.Node
	NodeKind  = ast.NodeKind
	Prompt    = ast.Prompt
	Property  = ast.Property
	Props     = ast.Props
	Schema    = ast.Schema
	Server    = ast.Server
	Text      = ast.Text
	Type      = ast.Type
	Value     = ast.Value
	ValueKind = ast.ValueKind
	Var       = ast.Var
	When      = ast.When
	Workflow  = ast.Workflow
)

// Its words, as package ast describes them.
const (
	Agent   = ast.Agent
	Judge   = ast.Judge
	Router  = ast.Router
	Join    = ast.Join
	Human   = ast.Human
	Tool    = ast.Tool
	Compute = ast.Compute

	String  = ast.String
	Bool    = ast.Bool
	Int     = ast.Int
	Float   = ast.Float
	JSON    = ast.JSON
	Strings = ast.Strings

	StringValue = ast.StringValue
	BodyValue   = ast.BodyValue
	WordValue   = ast.WordValue
	NumberValue = ast.NumberValue
	BoolValue   = ast.BoolValue
	NullValue   = ast.NullValue
	ListValue   = ast.ListValue
	ObjectValue = ast.ObjectValue
	BlockValue  = ast.BlockValue
)
