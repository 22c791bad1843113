package actions_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/report/actions"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"pgregory.net/rapid"
)

// readOutputs reads an outputs file in the way of the runner: name<<DELIMITER,
// lines until the delimiter stands alone, or name=value.
func readOutputs(text string) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		eq, heredoc := strings.IndexByte(lines[i], '='), strings.Index(lines[i], "<<")
		switch {
		case heredoc >= 0 && (eq < 0 || heredoc < eq):
			name, delimiter := lines[i][:heredoc], lines[i][heredoc+2:]
			begin := i + 1
			for i++; i < len(lines) && lines[i] != delimiter; i++ {
			}
			if i == len(lines) {
				return nil, fmt.Errorf("%s has no end", name)
			}
			out[name] = strings.Join(lines[begin:i], "\n")
		case eq >= 0:
			out[lines[i][:eq]] = lines[i][eq+1:]
		case lines[i] != "":
			return nil, fmt.Errorf("unexpected line %q", lines[i])
		}
	}
	return out, nil
}

func TestOutputsHoldAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom([]string{"\n", "=", "<<", "EOF", "\nstatus=done\n", "x<<EOF\n", "_GitHubActionsFileCommandDelimeter_\n", "pawl_", "\r", "\x00"}), rapid.String())
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "v"), "") }), 1, 4).Draw(t, "values")
		var outputs []actions.Output
		for i, v := range values {
			outputs = append(outputs, actions.Output{Name: fmt.Sprintf("name-%d", i), Value: v})
		}
		text, err := actions.Outputs(rand.Reader, outputs)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readOutputs(text)
		if err != nil || len(got) != len(outputs) {
			t.Fatalf("read %d outputs of %d: %v\n%s", len(got), len(outputs), err, text)
		}
		for _, o := range outputs {
			if got[o.Name] != strings.ToValidUTF8(o.Value, "\uFFFD") {
				t.Fatalf("%s is read as %q, was %q", o.Name, got[o.Name], o.Value)
			}
		}
	})
}

// zeros is a source that is not random: its delimiter can be guessed.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestOutputsRefuse(t *testing.T) {
	t.Parallel()
	guessed := "pawl_" + strings.Repeat("00", 16)
	for _, c := range []struct {
		name   string
		random io.Reader
		output actions.Output
		want   string
	}{
		{"a guessed delimiter", zeros{}, actions.Output{Name: "x", Value: "a\n" + guessed + "\nstatus=done"}, "holds the delimiter"},
		{"no randomness", strings.NewReader("short"), actions.Output{Name: "x"}, "read randomness"},
		{"a name that is a line", rand.Reader, actions.Output{Name: "x\ny"}, "a name has"},
		{"an empty name", rand.Reader, actions.Output{}, "a name has"},
		{"more than GitHub takes", rand.Reader, actions.Output{Name: "big", Value: strings.Repeat("x", 1<<19+1)}, "output big: GitHub takes 1 MiB"},
	} {
		file := filepath.Join(t.TempDir(), "out")
		err := actions.AppendOutputs(file, c.random, []actions.Output{{Name: "first", Value: "1"}, c.output})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was written: %v", c.name, err)
		}
	}
}

func TestAppendOutputs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out")
	for _, o := range []actions.Output{{"status", "done"}, {"report", "two\nlines\n"}, {"empty", ""}} {
		if err := actions.AppendOutputs(file, rand.Reader, []actions.Output{o}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readOutputs(string(text))
	if err != nil || got["status"] != "done" || got["report"] != "two\nlines\n" || got["empty"] != "" || len(got) != 3 {
		t.Errorf("read %q, error %v", got, err)
	}
	if err := actions.AppendOutputs(filepath.Join(file, "nowhere"), rand.Reader, nil); err == nil {
		t.Error("a path that cannot be written is no error")
	}
}

func TestAppendSummary(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "summary.md")
	write := func(text string) func(io.Writer, int) error {
		return func(w io.Writer, limit int) error {
			_, err := io.WriteString(w, text[:min(len(text), limit)])
			return err
		}
	}
	for _, text := range []string{"first\n", "second\n"} {
		if err := actions.AppendSummary(file, write(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "first\n\nsecond\n" {
		t.Fatalf("the file holds %q, error %v", got, err)
	}
	if err := actions.AppendSummary(file, write(strings.Repeat("x", 2<<20))); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != actions.SummaryLimit {
		t.Fatalf("%d bytes, want the limit to the byte; error %v", info.Size(), err)
	}
	for name, draw := range map[string]func(io.Writer, int) error{
		"a full file":  write("more"),
		"too much":     func(w io.Writer, limit int) error { _, err := w.Write(make([]byte, limit+1)); return err },
		"its own fail": func(io.Writer, int) error { return errors.New("no") },
	} {
		target := file
		if name != "a full file" {
			target = filepath.Join(t.TempDir(), name)
		}
		if err := actions.AppendSummary(target, draw); err == nil || !strings.HasPrefix(err.Error(), "job summary: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// diagnostics finds n errors and m warnings in a small file.
func diagnostics(n, m int) diag.List {
	file := diag.NewFile("flows/ci, fix.iter", "workflow x:\n  entry: gone\n")
	span := diag.Span{File: file, Start: 21, End: 25}
	var list diag.List
	for i := range m {
		list = append(list, diag.Diagnostic{Code: "C032", Severity: diag.Warning, Span: span, Message: fmt.Sprint("warning ", i)})
	}
	for i := range n {
		list = append(list, diag.Diagnostic{Code: "C008", Severity: diag.Error, Span: span, Message: fmt.Sprintf("100%% wrong: node %d\nis \x1b[31mnot\u202e there", i), Hint: "gome or gone?"})
	}
	return list
}

func TestAnnotate(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := actions.New(&b, 0).Annotate(actions.FromDiagnostics(diagnostics(1, 1))); err != nil {
		t.Fatal(err)
	}
	title := func(code diag.Code) string {
		rule, _ := diag.Lookup(code)
		return string(code) + "%3A " + rule.Title
	}
	want := "::error col=10,endColumn=14,endLine=2,file=flows/ci%2C fix.iter,line=2,title=" + title("C008") + "::100%25 wrong: node 0%0Ais not[U+202E] there%0Ahint: gome or gone?\n" +
		"::warning col=10,endColumn=14,endLine=2,file=flows/ci%2C fix.iter,line=2,title=" + title("C032") + "::warning 0\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestAnnotationLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		errs, warns, used      int
		wantErrs, wantWarnings int
		want                   string
	}{
		{10, 10, 0, 10, 10, ""},
		{11, 3, 0, 10, 3, "::error::2 more errors not shown here"},
		{500, 400, 0, 10, 10, "::warning::391 more warnings not shown here"},
		{4, 8, 45, 4, 1, "::warning::8 more warnings not shown here"},
		{3, 2, 50, 0, 0, "3 errors not shown as annotations"},
	} {
		var b bytes.Buffer
		if err := actions.New(&b, c.used).Annotate(actions.FromDiagnostics(diagnostics(c.errs, c.warns))); err != nil {
			t.Fatal(err)
		}
		errs, warns := strings.Count("\n"+b.String(), "\n::error"), strings.Count("\n"+b.String(), "\n::warning")
		if errs != c.wantErrs || warns != c.wantWarnings || !strings.Contains(b.String(), c.want) {
			t.Errorf("%+v: %d errors, %d warnings:\n%s", c, errs, warns, b.String())
		}
	}
	var b bytes.Buffer
	commands := actions.New(&b, 0)
	for range 3 {
		if err := commands.Annotate(actions.FromDiagnostics(diagnostics(6, 0))); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count("\n"+b.String(), "\n::error"); got != 10 || !strings.Contains(b.String(), "3 more errors") || !strings.Contains(b.String(), "6 errors not shown") {
		t.Errorf("the limit holds over several calls: %d\n%s", got, b.String())
	}
}

func TestAnnotationForms(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	list := []actions.Annotation{
		{Level: actions.Notice, Message: strings.Repeat("é", 5000)},
		{Level: actions.Warning, File: "a_test.go", Line: 3, EndLine: 9, Column: 2, EndColumn: 4, Message: "over several lines"},
		{Level: actions.Error, Message: "on no line"},
	}
	if err := actions.New(&b, 0).Annotate(list); err != nil {
		t.Fatal(err)
	}
	want := "::error::on no line\n::warning endLine=9,file=a_test.go,line=3::over several lines\n::notice::" + strings.Repeat("é", 4095) + "…\n"
	if b.String() != want {
		t.Errorf("got\n%.300s", b.String())
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := actions.New(&b, 0).Mask("{\r\n  \"key\": \"50%\"\n}\n\nsecret two"); err != nil {
		t.Fatal(err)
	}
	if want := "::add-mask::\"key\": \"50%25\"\n::add-mask::secret two\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := actions.New(&b, 0).Group("a\n::error::b", func() error { b.WriteString("inside\n"); return io.ErrUnexpectedEOF })
	if want := "::group::a ::error::b\ninside\n::endgroup::\n"; b.String() != want || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %q, error %v, want %q", b.String(), err, want)
	}
}

// runner reads a log in the way of the runner and returns the commands it obeys.
func runner(log string) (obeyed []string) {
	stopped := ""
	for _, line := range strings.Split(log, "\n") {
		command, isCommand := strings.CutPrefix(strings.TrimLeft(line, " \t"), "::")
		isCommand = isCommand && strings.Contains(command, "::") || strings.Contains(line, "##[")
		switch {
		case !isCommand:
		case stopped != "":
			if strings.HasPrefix(command, stopped+"::") {
				stopped = ""
			}
		case strings.HasPrefix(command, "stop-commands::"):
			stopped = strings.TrimPrefix(command, "stop-commands::")
		default:
			obeyed = append(obeyed, line)
		}
	}
	return obeyed
}

func TestUntrusted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain\n", "no line end", "::error::x\n", "  ::set-output name=a::b", "##[error]x", "::stop-commands::mine\n::mine::\n::error::x", "a\n::add-mask::e\nb",
	} {
		var b bytes.Buffer
		commands := actions.New(&b, 0)
		if err := commands.Untrusted(rand.Reader, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
		if err := commands.Annotate([]actions.Annotation{{Level: actions.Error, Message: "ours"}}); err != nil {
			t.Fatal(err)
		}
		if got := runner(b.String()); len(got) != 1 || got[0] != "::error::ours" {
			t.Errorf("%q: the runner obeys %q in\n%s", text, got, b.String())
		}
		if !strings.Contains(b.String(), text) {
			t.Errorf("%q was changed: %q", text, b.String())
		}
	}
	var b bytes.Buffer
	if err := actions.New(&b, 0).Untrusted(strings.NewReader(""), nil); err == nil || b.Len() > 0 {
		t.Errorf("without randomness nothing may be written: %v, %q", err, b.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"annotate":  actions.New(fullDisk{}, 0).Annotate([]actions.Annotation{{Level: actions.Error}}),
		"mask":      actions.New(fullDisk{}, 0).Mask("secret"),
		"group":     actions.New(fullDisk{}, 0).Group("g", func() error { return nil }),
		"untrusted": actions.New(fullDisk{}, 0).Untrusted(rand.Reader, func(io.Writer) error { return nil }),
	} {
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
