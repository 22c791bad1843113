package check

import (
	"fmt"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// mappings checks what flows along the edges out of n.
func (c *checker) mappings(n *ir.Node) {
	for _, e := range n.Edges {
		in := takes(e.To)
		if in == nil {
			continue
		}
		if len(e.With) == 0 {
			c.passedOn(e, in)
		}
		for i := range e.With {
			c.binding(e, &e.With[i], in)
		}
	}
}

// takes is the schema of what flows to n: of a join that a node awaits with, that
// node's.
func takes(n *ir.Node) *ir.Schema {
	if _, join := n.Op.(*ir.Join); join && n.Out == nil && n.In == nil && len(n.Edges) == 1 && ir.Awaited(n) {
		return n.Edges[0].To.In
	}
	return n.In
}

// passedOn checks an edge without a mapping: what leaves the source flows in as it
// is.
func (c *checker) passedOn(e *ir.Edge, in *ir.Schema) {
	fields, _ := e.From.OutputFields()
	for i := range fields {
		if f := in.Field(fields[i].Name); f != nil {
			c.fitting(e.Span, e, f, of(&fields[i]), "field "+f.Name+" of "+name(e.From))
		}
	}
}

// binding checks one entry of a mapping.
func (c *checker) binding(e *ir.Edge, b *ir.Binding, in *ir.Schema) {
	if meta(b.Key) {
		return
	}
	f := in.Field(b.Key)
	if f == nil {
		c.list.Add(diag.Diagnostic{
			Code: "P187", Severity: diag.Warning, Span: b.Span, Message: fmt.Sprintf("%s does not take %s: the value is dropped", name(e.To), b.Key),
			Hint: diag.Suggest(b.Key, in.Names()), Related: []diag.Related{{Span: in.Span, Message: "what it takes: schema " + in.Name}},
		})
		return
	}
	t := b.Value
	if ref := t.Single(); ref != nil {
		c.fitting(b.Span, e, f, c.at(e.From, ref), "{{"+ref.String()+"}}")
		return
	}
	if len(t.Refs()) > 0 {
		if v := (value{kind: "string"}); v.into(f) == doubts {
			c.fitting(b.Span, e, f, v, "a text with references in it")
		}
		return
	}
	constant, err := t.Value(nil)
	if err != nil {
		return
	}
	if _, ok := f.Take(constant); !ok && constant != nil {
		c.list.Add(c.misfit("P176", diag.Error, b.Span, e, f, "this value can never be "+f.Describe()))
	}
}

// fitting reports a value that does not go into a field.
func (c *checker) fitting(span diag.Span, e *ir.Edge, f *ir.Field, v value, what string) {
	switch v.into(f) {
	case doubts:
		c.list.Add(c.misfit("P175", diag.Warning, span, e, f, what+" is "+v.describe()+", and fits only if its value does"))
	case never:
		c.list.Add(c.misfit("P176", diag.Error, span, e, f, what+" is "+v.describe()+", which can never be "+f.Describe()))
	}
}

func (c *checker) misfit(code diag.Code, severity diag.Severity, span diag.Span, e *ir.Edge, f *ir.Field, message string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: code, Severity: severity, Span: span, Message: "field " + f.Name + " of " + name(e.To) + ": " + message,
		Hint:    "it takes " + f.Describe() + ": bring a value of that type, or change the field's type",
		Related: declared(f),
	}
}
