package front

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// placeholder finds {{…}} and ${NAME} or ${NAME:-default}. Names of environment
// variables are upper case, so that ${name} in code that a prompt quotes stays
// what it is.
var placeholder = regexp.MustCompile(`\{\{|\$\{([A-Z_][A-Z0-9_]*)(:-[^}]*)?\}`)

// reference is what may stand between braces.
var reference = regexp.MustCompile(`^(?:raw\(\s*([A-Za-z0-9_.-]+)\s*\)|([A-Za-z0-9_.-]+))$`)

// Text is source text with the place of every byte of it.
type Text interface {
	// At is the span of the value's bytes [start, end) in the source.
	At(start, end int) diag.Span
}

// Template parses a template that stands outside of a workflow's own file: value
// is its text, at the places of that text. env holds the values of ${NAME} that
// were put in. What the references name is for the rules to judge, once the
// template is part of a workflow.
func Template(value string, at Text, opt Options) (t *ir.Template, env map[string]string, list diag.List) {
	if opt.Env == nil {
		opt.Env = func(string) (string, bool) { return "", false }
	}
	l := &lowering{opt: opt, w: &ir.Workflow{Env: make(map[string]string)}}
	t = l.template(value, at, false)
	return t, l.w.Env, l.list
}

// template parses value once. Inside a shell command an unset ${NAME} is left to
// the shell.
func (l *lowering) template(value string, at Text, command bool) *ir.Template {
	t := &ir.Template{Span: at.At(0, len(value))}
	literal := func(s string) {
		if s == "" {
			return
		}
		if n := len(t.Parts); n > 0 && t.Parts[n-1].Ref == nil {
			t.Parts[n-1].Text += s
			return
		}
		t.Parts = append(t.Parts, ir.Part{Text: s})
	}
	pos := 0
	for pos < len(value) {
		m := placeholder.FindStringSubmatchIndex(value[pos:])
		if m == nil {
			break
		}
		start, end := pos+m[0], pos+m[1]
		literal(value[pos:start])
		if m[2] >= 0 {
			l.environment(t, literal, value[start:end], at.At(start, end), command)
			pos = end
			continue
		}
		pos = l.braces(t, literal, value, start, at)
	}
	literal(value[pos:])
	if len(t.Parts) == 0 {
		t.Parts = []ir.Part{{Text: ""}}
	}
	return t
}

// environment puts in the value of one ${NAME} or ${NAME:-default}.
func (l *lowering) environment(t *ir.Template, literal func(string), written string, span diag.Span, command bool) {
	inner := written[2 : len(written)-1]
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !EnvAllowed(name) {
		l.list.Errorf("P163", span, "secrets stay out of workflows: pawl gives the model's key to the model's client only",
			"${%s} may hold a secret and cannot be used here", name)
		return
	}
	value, set := l.opt.Env(name)
	if set {
		l.w.Env[name] = value
		literal(value)
		return
	}
	switch {
	case hasFallback:
		literal(fallback)
	case command:
		literal(written)
	default:
		l.list.Warnf("P164", span, "set it, or give a default: ${"+name+":-…}", "environment variable %s is not set", name)
		t.Parts = append(t.Parts, ir.Part{Ref: &ir.Ref{Root: ir.RootEnv, Path: []string{name}, Span: span}})
	}
}

// braces parses one {{…}} that begins at start and returns where it ends.
func (l *lowering) braces(t *ir.Template, literal func(string), value string, start int, at Text) int {
	line, _, _ := strings.Cut(value[start:], "\n")
	length := strings.Index(line[2:], "}}")
	if length < 0 {
		l.list.Errorf("C004", at.At(start, start+2), "close it with }} on the same line", "a reference begins here and does not end")
		literal(line)
		return start + len(line)
	}
	end := start + 2 + length + 2
	span := at.At(start, end)
	m := reference.FindStringSubmatch(strings.TrimSpace(value[start+2 : end-2]))
	if m == nil {
		l.list.Errorf("C004", span, "write {{root.name}}, for example {{input.code}} or {{outputs.reviewer.summary}}", "malformed reference %s", value[start:end])
		return end
	}
	ref := &ir.Ref{Raw: m[1] != "", Span: span}
	path := strings.Split(m[1]+m[2], ".")
	ref.Root, ref.Path = ir.Root(path[0]), path[1:]
	if !slices.Contains(ir.Roots, ref.Root) {
		l.list.Errorf("C004", span, diag.Suggest(path[0], rootNames()), "unknown reference {{%s}}", ref)
		return end
	}
	if slices.Contains(ref.Path, "") {
		l.list.Errorf("C004", span, "put a name between two dots", "malformed reference {{%s}}", ref)
		return end
	}
	t.Parts = append(t.Parts, ir.Part{Ref: ref})
	return end
}

func rootNames() []string {
	names := make([]string, len(ir.Roots))
	for i, r := range ir.Roots {
		names[i] = string(r)
	}
	return names
}
