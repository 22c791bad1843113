package front

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/syntax"
)

// servers lowers the MCP servers. What each needs and forbids, the parser has
// seen to.
func (l *lowering) servers() {
	for _, s := range l.file.Servers {
		out := &ir.Server{
			Name: s.Name.Name, Span: s.Span, Transport: word(s.Props, "transport"),
			Command: l.value(s.Props.Value("command"), false), URL: l.value(s.Props.Value("url"), false),
		}
		for i, items := 0, s.Props.Value("args").Items(); i < len(items); i++ {
			out.Args = append(out.Args, l.value(&items[i], false))
		}
		for i, entries := 0, s.Props.Value("env").Entries(); i < len(entries); i++ {
			out.Env = append(out.Env, l.serverEnv(&entries[i]))
		}
		slices.SortFunc(out.Env, func(a, b ir.ServerEnv) int { return strings.Compare(a.Name, b.Name) })
		l.w.Servers = append(l.w.Servers, out)
	}
	if mcp := l.decl.Props.Value("mcp"); mcp != nil {
		if v := mcp.Props().Value("autoload_project"); v != nil {
			l.w.ProjectServers = v.Bool()
		}
	}
}

// passedOn is a value that is one variable of pawl's environment and nothing
// else.
var passedOn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`) })

func (l *lowering) serverEnv(e *syntax.Entry) ir.ServerEnv {
	if m := passedOn().FindStringSubmatch(strings.TrimSpace(e.Value.Str)); m != nil {
		return ir.ServerEnv{Name: e.Key.Name, From: m[1]}
	}
	return ir.ServerEnv{Name: e.Key.Name, Value: l.binding(e).Value}
}

// serverTools are the tools of the MCP servers that a node may use: those of the
// workflow's mcp block, unless the node does not inherit them, and its own,
// without those that it disables. Where the node's tools name some of a server,
// they are all that it gets of it.
func (l *lowering) serverTools(props syntax.Props, named []ir.ToolRef) []ir.ToolRef {
	var active []ir.ToolRef
	general, block := l.decl.Props.Value("mcp"), props.Value("mcp")
	own := block.Props()
	inherits := general != nil
	if v := own.Value("inherit"); v != nil && !v.Bool() {
		inherits = false
	}
	if inherits {
		active = l.activate(general.Props(), true, active)
	}
	if block != nil {
		active = l.activate(own, !inherits, active)
	}
	for i, items := 0, own.Value("disable").Items(); i < len(items); i++ {
		active = slices.DeleteFunc(active, func(t ir.ToolRef) bool { return t.Name == "mcp."+items[i].Str+".*" })
	}
	return slices.DeleteFunc(active, func(t ir.ToolRef) bool {
		return slices.ContainsFunc(named, func(n ir.ToolRef) bool { return strings.HasPrefix(n.Name, strings.TrimSuffix(t.Name, "*")) })
	})
}

// activate adds the servers of one mcp block, each once. A block that names none
// means all that the file declares, where it is the one that says.
func (l *lowering) activate(block syntax.Props, decides bool, active []ir.ToolRef) []ir.ToolRef {
	add := func(t ir.ToolRef) {
		if !slices.ContainsFunc(active, func(o ir.ToolRef) bool { return o.Name == t.Name }) {
			active = append(active, t)
		}
	}
	for i, items := 0, block.Value("servers").Items(); i < len(items); i++ {
		add(ir.ToolRef{Name: "mcp." + items[i].Str + ".*", Span: items[i].Span})
	}
	if block.Value("servers") == nil && decides {
		for _, s := range l.file.Servers {
			add(ir.ToolRef{Name: "mcp." + s.Name.Name + ".*", Span: s.Name.Span})
		}
	}
	if v := block.Value("autoload_project"); v != nil && v.Bool() {
		l.w.ProjectServers = true
		add(ir.ToolRef{Name: "mcp.*", Span: v.Span})
	}
	return active
}
