package recipe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/lang/data"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// maxName is how many characters a recipe's name may have: it stands in tables
// and in the names of runs.
const maxName = 60

// Parse reads a recipe. It is nil when the text cannot be read at all; otherwise
// it holds whatever could be understood, and only a list without errors makes a
// recipe that may be applied.
func Parse(f *diag.File) (*Recipe, diag.List) {
	root, list := data.Read(f)
	if root == nil {
		return nil, list
	}
	p := &parser{r: &Recipe{File: f}, list: list}
	p.top(root)
	p.list.Sort()
	return p.r, p.list
}

// parser fills one recipe.
type parser struct {
	r    *Recipe
	list diag.List
}

// property is one key that an object may have.
type property struct {
	key  string
	take func(*data.Value)
}

// object hands each field to its property and reports those that are none.
func (p *parser) object(v *data.Value, what string, properties ...property) {
	if !p.is(v, what, data.Object) {
		return
	}
	names := make([]string, len(properties))
	for i, prop := range properties {
		names[i] = prop.key
	}
	for _, f := range v.Fields {
		i := slices.Index(names, f.Key)
		if i < 0 {
			p.list.Errorf("P123", f.At, diag.Suggest(f.Key, names), "%s has no property %s", what, f.Key)
			continue
		}
		properties[i].take(f.Value)
	}
}

// is reports a value of another kind than wanted.
func (p *parser) is(v *data.Value, what string, kind data.Kind) bool {
	if v.Kind == kind {
		return true
	}
	p.list.Errorf("P140", v.Span, "give "+kind.String(), "%s: this is %s, not %s", what, v.Kind, kind)
	return false
}

// text takes a text that is not empty.
func (p *parser) text(v *data.Value, what string) string {
	if !p.is(v, what, data.Text) {
		return ""
	}
	if strings.TrimSpace(v.Str) == "" {
		p.list.Errorf("P140", v.Span, "write it out, or delete the line", "%s is empty", what)
	}
	return v.Str
}

func (p *parser) top(root *data.Value) {
	r := p.r
	p.object(root, "a recipe",
		property{"name", p.name},
		property{"description", func(v *data.Value) { r.Description = p.text(v, "description") }},
		property{"workflow_ref", p.workflow},
		property{"preset_vars", func(v *data.Value) { r.Vars = p.settings(v, "preset_vars") }},
		property{"prompt_pack", func(v *data.Value) { r.Prompts = p.texts(v, "prompt_pack") }},
		property{"budget", p.budget},
		property{"tool_policy", p.tools},
		property{"models", p.models},
		property{"evaluation_policy", p.evaluation},
	)
	if root.Kind != data.Object {
		return
	}
	if root.Field("name") == nil {
		at := root.Span.Sub(0, min(1, root.Span.End-root.Span.Start))
		p.list.Errorf("P125", at, "add name: a word for tables and reports", "the recipe has no name")
	}
	plain, _ := root.Plain().(map[string]any)
	delete(plain, "description")
	r.meaning = plain
}

func (p *parser) name(v *data.Value) {
	p.r.Name = p.text(v, "name")
	if n := len([]rune(p.r.Name)); n > maxName || strings.ContainsAny(p.r.Name, "\n\r\t") {
		p.list.Errorf("P140", v.Span, fmt.Sprintf("give one line of at most %d characters, and the rest as description", maxName), "the name is too long for a table")
	}
}

func (p *parser) workflow(v *data.Value) {
	ref := &p.r.Workflow
	p.object(v, "workflow_ref",
		property{"name", func(v *data.Value) { ref.Name, ref.NameSpan = p.text(v, "workflow_ref.name"), v.Span }},
		property{"path", func(v *data.Value) { ref.Path, ref.PathSpan = p.text(v, "workflow_ref.path"), v.Span }},
	)
}

// settings takes an object of any values.
func (p *parser) settings(v *data.Value, what string) []Setting {
	if !p.is(v, what, data.Object) {
		return nil
	}
	out := make([]Setting, len(v.Fields))
	for i, f := range v.Fields {
		out[i] = Setting{f.Key, f.At, f.Value}
	}
	return out
}

// texts takes an object of texts.
func (p *parser) texts(v *data.Value, what string) []Setting {
	return slices.DeleteFunc(p.settings(v, what), func(s Setting) bool {
		return p.text(s.Value, what+"."+s.Name) == ""
	})
}

// limits are the entries of a budget and where the purse keeps them.
var limits = []struct {
	name string
	get  func(*budget.Limits) *int64
}{
	{"max_cost_usd", func(l *budget.Limits) *int64 { return (*int64)(&l.MaxCost) }},
	{"max_duration", func(l *budget.Limits) *int64 { return (*int64)(&l.MaxDuration) }},
	{"max_iterations", func(l *budget.Limits) *int64 { return &l.MaxIterations }},
	{"max_parallel_branches", func(l *budget.Limits) *int64 { return &l.MaxParallelBranches }},
	{"max_tokens", func(l *budget.Limits) *int64 { return &l.MaxTokens }},
}

func (p *parser) budget(v *data.Value) {
	properties := make([]property, len(limits))
	for i, l := range limits {
		properties[i] = property{l.name, func(v *data.Value) {
			if n, ok := p.limit(v, l.name); ok {
				p.r.Limits = append(p.r.Limits, Limit{l.name, v.Span, l.get, n})
			}
		}}
	}
	p.object(v, "budget", properties...)
}

// limit reads one figure in the unit that the purse counts in.
func (p *parser) limit(v *data.Value, name string) (n int64, ok bool) {
	switch name {
	case "max_duration":
		return p.duration(v)
	case "max_cost_usd":
		if !p.is(v, name, data.Number) {
			return 0, false
		}
		cost, err := budget.ParseMicros(v.Str)
		if err != nil || cost <= 0 {
			p.list.Errorf("P144", v.Span, "give dollars above 0, with at most six decimals: 0.25", "max_cost_usd: %s is no amount that can be held", v.Str)
			return 0, false
		}
		return int64(cost), true
	}
	if !p.is(v, name, data.Number) {
		return 0, false
	}
	whole, isInt := v.Plain().(int)
	if !isInt || whole < 1 {
		p.list.Errorf("P144", v.Span, "give a whole number from 1", "%s: %s is out of range", name, v.Str)
		return 0, false
	}
	return int64(whole), true
}

func (p *parser) duration(v *data.Value) (n int64, ok bool) {
	if !p.is(v, "max_duration", data.Text) {
		return 0, false
	}
	d, err := time.ParseDuration(strings.TrimSpace(v.Str))
	if err != nil || d <= 0 {
		p.list.Errorf("P160", v.Span, "write a number and a unit: 90s, 30m, 1h30m", "max_duration: %q is no duration", v.Str)
		return 0, false
	}
	return int64(d), true
}

func (p *parser) models(v *data.Value) {
	p.object(v, "models",
		property{"all", func(v *data.Value) {
			if p.text(v, "models.all") != "" {
				p.r.Model = v
			}
		}},
		property{"nodes", func(v *data.Value) { p.r.Models = p.texts(v, "models.nodes") }},
	)
}

func (p *parser) tools(v *data.Value) {
	p.object(v, "tool_policy", append(p.rules(&p.r.Tools, "tool_policy"),
		property{"nodes", func(v *data.Value) {
			for _, s := range p.settings(v, "tool_policy.nodes") {
				n := NodeTools{Node: s.Name, At: s.At}
				what := "tool_policy.nodes." + s.Name
				p.object(s.Value, what, p.rules(&n.ToolRules, what)...)
				p.r.NodeTools = append(p.r.NodeTools, n)
			}
		}})...)
}

func (p *parser) rules(to *ToolRules, what string) []property {
	return []property{
		{"allow", func(v *data.Value) { to.Allow = p.patterns(v, what+".allow") }},
		{"deny", func(v *data.Value) { to.Deny = p.patterns(v, what+".deny") }},
	}
}

func (p *parser) patterns(v *data.Value, what string) []Pattern {
	if !p.is(v, what, data.List) {
		return nil
	}
	if len(v.Items) == 0 {
		p.list.Errorf("P140", v.Span, `name tools; deny: ["*"] takes them all away`, "%s is empty, which could mean nothing or everything", what)
	}
	var out []Pattern
	for _, item := range v.Items {
		text := p.text(item, what)
		if i := strings.IndexByte(text, '*'); i >= 0 && text != "*" && (i < len(text)-1 || !strings.HasSuffix(text, ".*") || text == ".*") {
			p.list.Errorf("P140", item.Span, `write a tool's name, a namespace such as "mcp.github.*", or "*"`, "%s: %q is no pattern", what, text)
			continue
		}
		if text != "" {
			out = append(out, Pattern{text, item.Span})
		}
	}
	return out
}

func (p *parser) evaluation(v *data.Value) {
	e := &Evaluation{}
	p.object(v, "evaluation_policy",
		property{"primary_metric", func(v *data.Value) {
			if p.text(v, "primary_metric") != "" {
				e.Metric = v
			}
		}},
		property{"success_value", func(v *data.Value) { e.Success = p.success(v) }},
		property{"direction", func(v *data.Value) { e.Direction = p.direction(v) }},
		property{"secondary_metrics", func(v *data.Value) {
			if p.is(v, "secondary_metrics", data.List) {
				for _, item := range v.Items {
					if p.text(item, "secondary_metrics") != "" {
						e.Secondary = append(e.Secondary, item)
					}
				}
			}
		}},
	)
	if v.Kind != data.Object {
		return
	}
	if v.Field("primary_metric") == nil {
		p.list.Errorf("P125", v.Span.Sub(0, min(1, v.Span.End-v.Span.Start)), "add primary_metric: a field of an output, or one of: "+strings.Join(metricNames(), ", "), "the evaluation policy has no primary_metric")
		return
	}
	if e.Metric != nil { // otherwise what is wrong with it has been said
		p.r.Evaluation = e
	}
}

// success takes a value, or a comparison as text.
func (p *parser) success(v *data.Value) *data.Value {
	switch v.Kind {
	case data.Bool, data.Number:
		return v
	case data.Text:
		if _, err := score.ParseWish(v.Str); err != nil {
			p.list.Errorf("P140", v.Span, `give a value such as true, or a comparison such as ">= 0.8"`, "%s", err)
			return nil
		}
		return v
	}
	p.list.Errorf("P140", v.Span, `give a value such as true, or a comparison such as ">= 0.8"`, "success_value: this is %s", v.Kind)
	return nil
}

func (p *parser) direction(v *data.Value) score.Direction {
	d := score.Direction(p.text(v, "direction"))
	if d != score.Higher && d != score.Lower && d != "" {
		p.list.Errorf("P141", v.Span, diag.Suggest(v.Str, []string{"max", "min"}), "direction: %q is not one of the choices", v.Str)
	}
	return d
}

func metricNames() []string {
	var names []string
	for _, m := range score.Metrics() {
		names = append(names, m.Name)
	}
	return names
}
