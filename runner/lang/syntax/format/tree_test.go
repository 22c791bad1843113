package format_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// tree is a file as text, without the places where things stand and without the
// difference between a word and the same word in quotes where the parser takes
// both.
func tree(f *syntax.File) string {
	d := &dump{}
	d.vars(f.Vars)
	for _, p := range f.Prompts {
		d.add("prompt %s %q", p.Name.Name, p.Body.Value)
	}
	for _, s := range f.Schemas {
		d.add("schema %s", s.Name.Name)
		for _, field := range s.Fields {
			d.add("field %s %s %t", field.Name.Name, field.Type, field.Optional)
			for i := range field.Enum {
				d.value(&field.Enum[i])
			}
		}
	}
	for _, s := range f.Servers {
		d.add("server %s", s.Name.Name)
		d.props(s.Props)
	}
	for _, n := range f.Nodes {
		d.add("%s %s", n.Kind, n.Name.Name)
		d.props(n.Props)
	}
	for _, w := range f.Workflows {
		d.add("workflow %s", w.Name.Name)
		d.vars(w.Vars)
		d.props(w.Props)
		for _, e := range w.Edges {
			d.edge(e)
		}
	}
	return d.String()
}

type dump struct{ strings.Builder }

func (d *dump) add(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *dump) vars(list []*syntax.Var) {
	for _, v := range list {
		d.add("var %s %s", v.Name.Name, v.Type)
		if v.Default != nil {
			d.value(v.Default)
		}
	}
}

func (d *dump) props(list syntax.Props) {
	for i := range list {
		d.add("property %s as %s", list[i].Key, list[i].Name.Text())
		d.value(&list[i].Value)
	}
}

func (d *dump) edge(e *syntax.Edge) {
	d.add("edge %s %s", e.From.Name, e.To.Name)
	if e.When != nil {
		d.add("when %t %s", e.When.Not, e.When.Field.Name)
		if e.When.Expr != nil {
			d.value(e.When.Expr)
		}
	}
	if e.Loop != nil {
		d.add("as %s %d", e.Loop.Name.Name, e.Loop.Max)
	}
	d.add("with %t", !e.WithSpan.IsZero())
	d.entries(e.With)
}

func (d *dump) entries(list []syntax.Entry) {
	for i := range list {
		d.add("key %q", list[i].Key.Name)
		d.value(&list[i].Value)
	}
}

func (d *dump) value(v *syntax.Value) {
	kind := v.Kind
	if _, err := strconv.ParseFloat(v.Str, 64); kind == syntax.WordValue || kind == syntax.NumberValue && err != nil {
		kind = syntax.StringValue
	}
	d.add("%d %q", kind, v.Str)
	for i := range v.Items() {
		d.value(&v.Items()[i])
	}
	d.entries(v.Entries())
	d.props(v.Props())
	d.add("end")
}
