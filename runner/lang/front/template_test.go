package front_test

import (
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

// flat is a text that stands in a file as it is.
type flat struct{ file *diag.File }

func (f flat) At(start, end int) diag.Span { return diag.Span{File: f.file, Start: start, End: end} }

// pieces are the parts of a template as they are written, references in < >.
func pieces(text string, env func(string) (string, bool)) (marked, plain string, list diag.List) {
	t, _, list := front.Template(text, flat{diag.NewFile("t", text)}, front.Options{Env: env})
	for _, p := range t.Parts {
		written := p.Text
		if p.Ref != nil {
			written = p.Ref.Span.Text()
			marked += "<" + written + ">"
		} else {
			marked += written
		}
		plain += written
	}
	return marked, plain, list
}

// A reference without an end is told once for its line, and costs no more than
// reading the line: what follows is text.
func TestReferencesWithoutAnEnd(t *testing.T) {
	t.Parallel()
	marked, _, list := pieces("a {{x {{y\n{{vars.z}} {{", nil)
	if marked != "a {{x {{y\n<{{vars.z}}> {{" || len(list) != 2 || list[0].Code != "C004" {
		t.Errorf("%q, %v", marked, list)
	}
	if _, _, list = pieces(strings.Repeat("{{", 4<<20), nil); len(list) != 1 {
		t.Errorf("a line of open references has %d findings", len(list))
	}
}

// Whatever the text: every byte of it is literal, reference or environment, in
// order, and findings stand in it.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		"", "{{", "}}", "{{}}", "{{vars.x}}", "{{ raw( vars.x ) }}", "{{{a}}}", "a{{b}}c{{d", "${A}", "${A:-b}", "${A:-{{x}}}", "${a}", "$${A}", "{{${A}}}", "{{a\n}}",
		"{{input.a.b.c.d}} {{outputs.x.history}} {{loop.l.max}} {{run.id}} {{é}} ${TOKEN} ${SET}", "{{outputs.}} {{.}} {{a..b}} {{-}}",
	} {
		f.Add(text)
	}
	env := func(name string) (string, bool) { return "{{vars.never}}${NEVER}", name == "SET" }
	f.Fuzz(func(t *testing.T, text string) {
		_, plain, list := pieces(text, env)
		for _, d := range list {
			if d.Span.Start < 0 || d.Span.End > len(text) || d.Span.Start > d.Span.End {
				t.Fatalf("a finding at %d:%d of %d bytes: %v", d.Span.Start, d.Span.End, len(text), d)
			}
		}
		if plain != text && !strings.Contains(text, "${") && !list.HasErrors() {
			t.Fatalf("the parts of %q are %q", text, plain)
		}
	})
}
