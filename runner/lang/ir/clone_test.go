package ir_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// full is a workflow that holds something everywhere.
func full() *ir.Workflow {
	temperature := 0.5
	text := ir.Literal("x")
	call := &ir.Call{Model: text, System: text, User: text, Tools: []ir.ToolRef{{Name: "t"}}, Policy: &ir.ToolPolicy{Deny: []string{"u"}}, Temperature: &temperature}
	a := &ir.Node{ID: "a", In: schema(gates.Field{Name: "x", Kind: gates.String}), Op: call}
	b := &ir.Node{ID: "b", Op: &ir.Route{Mode: ir.LLM, Call: &ir.Call{Model: text}}}
	c := &ir.Node{ID: "c", Op: &ir.Ask{Instructions: text, Call: &ir.Call{User: text}}}
	d := &ir.Node{ID: "d", Op: &ir.Exec{Command: text, With: []ir.Binding{{Key: "k", Value: text}}}}
	l := &ir.Loop{Name: "l", Max: 2}
	w := &ir.Workflow{
		Name: "w", Entry: a, Nodes: []*ir.Node{a, b, c, d}, Loops: []*ir.Loop{l}, Env: map[string]string{"E": "1"},
		Vars: []*ir.Var{{Name: "v"}}, Prompts: []*ir.Prompt{{Name: "p", Text: text}},
	}
	a.Edges = []*ir.Edge{{From: a, To: b, With: []ir.Binding{{Key: "k", Value: text}}}}
	b.Edges = []*ir.Edge{{From: b, To: c}, {From: b, To: a, Loop: l}}
	c.Edges = []*ir.Edge{{From: c, To: d}}
	w.Seal()
	return w
}

// What a workflow is made of belongs to its copy alone; only what never changes
// is shared. A part that is added to the IR one day is found here.
func TestCloneSharesNothingThatChanges(t *testing.T) {
	t.Parallel()
	w := full()
	c := w.Clone()
	if w.Digest() != c.Digest() {
		t.Fatal("the copy means something else")
	}
	own := make(map[uintptr]string)
	pointers(reflect.ValueOf(w), "w", own)
	copied := make(map[uintptr]string)
	pointers(reflect.ValueOf(c), "w", copied)
	if len(own) != len(copied) || len(own) < 20 {
		t.Errorf("%d parts, and %d in the copy", len(own), len(copied))
	}
	for at, path := range copied {
		if first, shared := own[at]; shared {
			t.Errorf("%s of the copy is %s of the original", path, first)
		}
	}
}

// steady never change once they are made, so copies share them.
var steady = map[reflect.Type]bool{
	reflect.TypeFor[*ir.Template](): true, reflect.TypeFor[*ir.Schema](): true, reflect.TypeFor[*ir.ToolPolicy](): true,
	reflect.TypeFor[*float64](): true, reflect.TypeFor[*ir.Join](): true, reflect.TypeFor[*ir.Compute](): true, reflect.TypeFor[*ir.End](): true,
}

func pointers(v reflect.Value, path string, seen map[uintptr]string) {
	if steady[v.Type()] {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map:
		if v.IsNil() {
			return
		}
		if _, again := seen[v.Pointer()]; again {
			return
		}
		seen[v.Pointer()] = path
		if v.Kind() == reflect.Pointer {
			pointers(v.Elem(), path, seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			pointers(v.Elem(), path, seen)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			seen[v.Pointer()] = path + "[]"
		}
		for i := range v.Len() {
			pointers(v.Index(i), fmt.Sprintf("%s[%d]", path, i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			pointers(v.Field(i), path+"."+v.Type().Field(i).Name, seen)
		}
	}
}

func TestReplaceTemplates(t *testing.T) {
	t.Parallel()
	w := full()
	before := w.Digest()
	c := w.Clone()
	old := c.Prompts[0].Text
	other := ir.Literal("y")
	c.ReplaceTemplates(map[*ir.Template]*ir.Template{old: other})
	if w.Digest() != before || c.Digest() == before {
		t.Error("the original changed, or the copy did not")
	}
	call := c.Node("a").Op.(*ir.Call)
	if call.Model != other || call.System != other || call.User != other || c.Node("b").Op.(*ir.Route).Call.Model != other ||
		c.Node("c").Op.(*ir.Ask).Instructions != other || c.Node("d").Op.(*ir.Exec).Command != other || c.Node("d").Op.(*ir.Exec).With[0].Value != other {
		t.Error("a template stayed what it was")
	}
}

func TestToolPolicy(t *testing.T) {
	t.Parallel()
	var none *ir.ToolPolicy
	for _, c := range []struct {
		policy *ir.ToolPolicy
		name   string
		want   bool
	}{
		{none, "x", true}, {&ir.ToolPolicy{}, "x", true},
		{&ir.ToolPolicy{Allow: []string{"read_file"}}, "read_file", true}, {&ir.ToolPolicy{Allow: []string{"read_file"}}, "read_files", false},
		{&ir.ToolPolicy{Allow: []string{"mcp.github.*"}}, "mcp.github.search", true}, {&ir.ToolPolicy{Allow: []string{"mcp.github.*"}}, "mcp.github.issues.list", true},
		{&ir.ToolPolicy{Allow: []string{"mcp.github.*"}}, "mcp.githubs.search", false}, {&ir.ToolPolicy{Allow: []string{"mcp.github.*"}}, "mcp.github.", false},
		{&ir.ToolPolicy{Deny: []string{"*"}}, "x", false}, {&ir.ToolPolicy{Allow: []string{"*"}, Deny: []string{"x"}}, "x", false},
		{&ir.ToolPolicy{Allow: []string{"*"}, Deny: []string{"x"}}, "y", true},
	} {
		if got := c.policy.Permits(c.name); got != c.want {
			t.Errorf("%+v permits %s: %t", c.policy, c.name, got)
		}
	}
}
