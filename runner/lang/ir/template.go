package ir

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Template is text with references, parsed once. Text that a reference brings in
// is never scanned again.
type Template struct {
	Parts []Part
	Span  diag.Span
}

// Part is literal text, a reference, or a constant that is no text.
type Part struct {
	Text    string // of a constant: its JSON
	Ref     *Ref
	Const   any
	IsConst bool
}

// Root is the first word of a reference.
type Root string

// The roots a reference may have.
const (
	RootVars      Root = "vars"
	RootInput     Root = "input"
	RootOutputs   Root = "outputs"
	RootArtifacts Root = "artifacts"
	RootLoop      Root = "loop"
	RootRun       Root = "run"
	RootEvent     Root = "event"
	RootEnv       Root = "env" // ${NAME} that was not set when the file was compiled
)

// Roots lists the roots that may be written, in the order shown to people.
var Roots = []Root{RootArtifacts, RootEvent, RootInput, RootLoop, RootOutputs, RootRun, RootVars}

// Ref is {{root.path}}, or {{raw(root.path)}}.
type Ref struct {
	Root Root
	Path []string
	Raw  bool // not shell-quoted in a command
	Span diag.Span
}

// String is the reference as written, without braces.
func (r *Ref) String() string {
	return strings.Join(append([]string{string(r.Root)}, r.Path...), ".")
}

// Scope resolves references. Lookup returns an error that says what is missing.
type Scope interface {
	Lookup(ref *Ref) (any, error)
}

// Literal makes a template without references.
func Literal(text string) *Template { return &Template{Parts: []Part{{Text: text}}} }

// Refs lists the template's references in order.
func (t *Template) Refs() []*Ref {
	if t == nil {
		return nil
	}
	var refs []*Ref
	for _, p := range t.Parts {
		if p.Ref != nil {
			refs = append(refs, p.Ref)
		}
	}
	return refs
}

// Single returns the reference when the template is nothing but one, else nil.
func (t *Template) Single() *Ref {
	if t != nil && len(t.Parts) == 1 {
		return t.Parts[0].Ref
	}
	return nil
}

// Value evaluates the template; a single reference keeps its type.
func (t *Template) Value(scope Scope) (any, error) {
	if ref := t.Single(); ref != nil {
		return scope.Lookup(ref)
	}
	if len(t.Parts) == 1 && t.Parts[0].IsConst {
		return t.Parts[0].Const, nil
	}
	return t.Render(scope, nil)
}

// Render evaluates the template to text. quote, when not nil, is applied to
// every substituted value that is not marked raw.
func (t *Template) Render(scope Scope, quote func(string) string) (string, error) {
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Ref == nil {
			b.WriteString(p.Text)
			continue
		}
		v, err := scope.Lookup(p.Ref)
		if err != nil {
			return "", err
		}
		text, err := Render(v)
		if err != nil {
			return "", fmt.Errorf("{{%s}}: %w", p.Ref, err)
		}
		if quote != nil && !p.Ref.Raw {
			text = quote(text)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// ShellQuote makes text one word for sh, whatever it holds.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Command renders a shell command: values are quoted, except in a command that
// is one single {{vars.x}}, which the operator wrote.
func (t *Template) Command(scope Scope) (string, error) {
	if ref := t.Single(); ref != nil && ref.Root == RootVars {
		return t.Render(scope, nil)
	}
	return t.Render(scope, ShellQuote)
}

// source writes the template back for digests.
func (t *Template) source() string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Ref == nil {
			fmt.Fprintf(&b, "%t:%s", p.IsConst, p.Text)
			continue
		}
		fmt.Fprintf(&b, "{{%s|%t}}", p.Ref, p.Ref.Raw)
	}
	return b.String()
}
