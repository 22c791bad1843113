package scaffold

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"
	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
)

// disk is a directory in memory.
type disk map[string]string

func (d disk) read(name string) ([]byte, bool, error) {
	text, there := d[name]
	return []byte(text), there, nil
}

// write does what a plan says.
func (d disk) write(t interface{ Fatalf(string, ...any) }, files []File) {
	for _, f := range files {
		_, there := d[f.Path]
		switch {
		case f.Action == Create && !there, f.Action == Append && there:
			d[f.Path] += string(f.Text)
		case f.Action != Keep || !there || f.Text != nil:
			t.Fatalf("%s: %s, and there %t", f.Path, f.Action, there)
		}
	}
}

func plan(t interface{ Fatalf(string, ...any) }, d disk, opt Options) []File {
	files, err := Plan(opt, d.read)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return files
}

// TestNothingIsOverwritten: whatever is there, what was there stays, a second
// time changes nothing, and git then ignores what it should.
func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := disk{}
		for _, o := range offers {
			if rapid.Bool().Draw(t, "there") {
				line := rapid.SampledFrom([]string{".env", "/.env", ".pawl", ".pawl/", "node_modules", "", "x\r", "## mine", "!.env.example", " .env "})
				d[o.path] = strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
			}
		}
		before := disk{}
		for name, text := range d {
			before[name] = text
		}
		opt := Options{GitHub: rapid.Bool().Draw(t, "github"), Pin: "v1"}
		d.write(t, plan(t, d, opt))
		for name, text := range before {
			if !strings.HasPrefix(d[name], text) || name != ".gitignore" && d[name] != text {
				t.Fatalf("%s was %q and is %q", name, text, d[name])
			}
		}
		for _, want := range []string{".env", ".pawl"} {
			if !regexp.MustCompile(`(?m)^\s*/?` + regexp.QuoteMeta(want) + `/?\s*$`).MatchString(d[".gitignore"]) {
				t.Fatalf("%s is not ignored by %q", want, d[".gitignore"])
			}
		}
		for _, f := range plan(t, d, opt) {
			if f.Action != Keep {
				t.Fatalf("the second time: %s %s", f.Action, f.Path)
			}
		}
	})
}

func TestLineEnds(t *testing.T) {
	t.Parallel()
	for old, want := range map[string]string{
		"":               ".env\n.pawl/\n",
		"a\n":            "a\n.env\n.pawl/\n",
		"a":              "a\n.env\n.pawl/\n",
		"a\r\nb":         "a\r\nb\r\n.env\r\n.pawl/\r\n",
		"a\r\n.pawl\r\n": "a\r\n.pawl\r\n.env\r\n",
	} {
		d := disk{".gitignore": old}
		d.write(t, plan(t, d, Options{}))
		if d[".gitignore"] != want {
			t.Errorf("%q became %q, want %q", old, d[".gitignore"], want)
		}
	}
}

func TestPlanSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	_, err := Plan(Options{}, func(name string) ([]byte, bool, error) {
		if name == ".gitignore" {
			return nil, false, io.ErrUnexpectedEOF
		}
		return nil, false, nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "read .gitignore: ") {
		t.Errorf("error %v", err)
	}
}

// TestWorkflowsAreClean: nothing can be said against the workflows, warnings
// included, and they say how they are run.
func TestWorkflowsAreClean(t *testing.T) {
	t.Parallel()
	count := 0
	for _, f := range plan(t, disk{}, Options{}) {
		if path.Ext(f.Path) != ".iter" {
			continue
		}
		count++
		w, list := front.Load(diag.NewFile(f.Path, string(f.Text)), front.Options{Env: func(string) (string, bool) { return "", false }})
		var b bytes.Buffer
		if err := diag.Render(&b, list, false); err != nil || b.Len() > 0 || w == nil {
			t.Errorf("%s: %v\n%s", f.Path, err, &b)
		}
		if !bytes.Contains(f.Text, []byte("pawl run "+f.Path)) {
			t.Errorf("%s does not say how it is run", f.Path)
		}
	}
	if count != 2 {
		t.Errorf("%d workflows", count)
	}
}

var pinned = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

// job is what the tests read of a workflow file for GitHub.
type job struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Timeout int `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses string
			Run  string
			With map[string]string
		}
	}
}

// TestGitHubFiles: actionlint is content, actions are pinned by commit, nothing
// may be written, no credentials stay in the checkout, no text of strangers stands in
// a shell command, and the inputs are those that action.yml has.
func TestGitHubFiles(t *testing.T) {
	t.Parallel()
	const pin = "3d3c42e5aac5ba805825da76410c181273ba90b1 # v1.2.3"
	lint, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, f := range plan(t, disk{}, Options{GitHub: true, Pin: pin}) {
		if path.Ext(f.Path) != ".yml" {
			continue
		}
		count++
		problems, err := lint.Lint(f.Path, f.Text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %v", f.Path, p)
		}
		var w job
		if err := yaml.Unmarshal(f.Text, &w); err != nil {
			t.Fatal(err)
		}
		checkJob(t, f.Path, w)
		checkAction(t, f)
		if !bytes.Contains(f.Text, []byte("uses: pawl-ci/pawl@"+pin+"\n")) {
			t.Errorf("%s does not use the pin", f.Path)
		}
	}
	if count != 2 {
		t.Errorf("%d files for GitHub", count)
	}
}

var (
	usedInput  = regexp.MustCompile(`(?m)^          ([a-z-]+):`)
	usedOutput = regexp.MustCompile(`steps\.pawl\.outputs\.([a-z-]+)`)
)

// checkAction holds what a file gives to and takes from pawl against action.yml.
func checkAction(t *testing.T, f File) {
	text, err := os.ReadFile("../../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct{ Inputs, Outputs map[string]any }
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	_, step, _ := strings.Cut(string(f.Text), "uses: pawl-ci/pawl@")
	step, _, _ = strings.Cut(step, "      - ")
	inputs := usedInput.FindAllStringSubmatch(step, -1)
	for _, m := range inputs {
		if _, ok := action.Inputs[m[1]]; !ok {
			t.Errorf("%s: action.yml has no input %s", f.Path, m[1])
		}
	}
	outputs := usedOutput.FindAllStringSubmatch(string(f.Text), -1)
	for _, m := range outputs {
		if _, ok := action.Outputs[m[1]]; !ok {
			t.Errorf("%s: action.yml has no output %s", f.Path, m[1])
		}
	}
	if len(inputs) < 3 || len(outputs) == 0 {
		t.Errorf("%s: found %d inputs and %d outputs", f.Path, len(inputs), len(outputs))
	}
}

func checkJob(t *testing.T, name string, w job) {
	if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("%s may do %v", name, w.Permissions)
	}
	for _, j := range w.Jobs {
		if j.Timeout == 0 {
			t.Errorf("%s may run for ever", name)
		}
		for _, s := range j.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				t.Errorf("%s uses %s", name, s.Uses)
			}
			if strings.Contains(s.Run, "${{") {
				t.Errorf("%s: an expression in a command: %s", name, s.Run)
			}
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
				t.Errorf("%s leaves a token in the checkout", name)
			}
		}
	}
}

// TestOffersAreAllFiles: no file of the scaffold is forgotten.
func TestOffersAreAllFiles(t *testing.T) {
	t.Parallel()
	entries, err := texts.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.ContainsFunc(offers, func(o offer) bool { return o.source == e.Name() }) {
			t.Errorf("%s is offered to nobody", e.Name())
		}
	}
	if len(entries) != len(offers) {
		t.Errorf("%d files, %d offers", len(entries), len(offers))
	}
}
