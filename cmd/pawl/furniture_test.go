package main_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"
)

// The tests of what stands around the code: workflows, action.yml, Dockerfile,
// .ci/run, and the examples in the documentation.

func readFurniture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repositoryRoot, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// furnitureFiles are the files that match one of the patterns, relative to the
// repository. At least one must.
func furnitureFiles(t *testing.T, patterns ...string) []string {
	t.Helper()
	var names []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(repositoryRoot, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			rel, err := filepath.Rel(repositoryRoot, name)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
	}
	if len(names) == 0 {
		t.Fatalf("nothing matches %s", strings.Join(patterns, ", "))
	}
	return names
}

func workflowFiles(t *testing.T) []string {
	return furnitureFiles(t, ".github/workflows/*.yml", ".github/workflows/*.yaml")
}

// lint gives a workflow to actionlint; line is where it begins in its file.
func lint(t *testing.T, name string, line int, text string) {
	t.Helper()
	root, err := filepath.Abs(repositoryRoot)
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(root)
	if err != nil {
		t.Fatal(err)
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{WorkingDir: root})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint(filepath.Join(root, name), []byte(text), project)
	if err != nil {
		t.Fatalf("lint %s: %v", name, err)
	}
	for _, p := range problems {
		t.Errorf("%s:%d:%d: %s [%s]", name, line+p.Line-1, p.Column, p.Message, p.Kind)
	}
}

func TestWorkflowsLint(t *testing.T) {
	t.Parallel()
	for _, name := range workflowFiles(t) {
		lint(t, name, 1, readFurniture(t, name))
	}
}

// example is a fenced block of YAML in a page.
type example struct {
	page string
	line int // of its first line
	text string
}

// isWorkflow reports whether the example is a whole workflow, not a part of one.
func (e example) isWorkflow() bool {
	return strings.Contains("\n"+e.text, "\non:") && strings.Contains("\n"+e.text, "\njobs:")
}

func yamlExamples(t *testing.T) []example {
	t.Helper()
	var found []example
	for _, page := range furnitureFiles(t, "*.md", "docs/*.md", "docs/*/*.md", ".github/*.md") {
		var block *example
		for i, line := range strings.SplitAfter(readFurniture(t, page), "\n") {
			fence := strings.TrimSpace(line)
			switch {
			case block == nil && (fence == "```yaml" || fence == "```yml"):
				block = &example{page: page, line: i + 2}
			case block != nil && fence == "```":
				found, block = append(found, *block), nil
			case block != nil:
				block.text += line
			}
		}
	}
	return found
}

var ownAction = regexp.MustCompile(`uses: pawl-ci/pawl@\S+`)

// Workflows that the documentation shows are checked like our own, with the
// inputs of this checkout's action.yml.
func TestDocumentedWorkflowsLint(t *testing.T) {
	t.Parallel()
	for _, e := range yamlExamples(t) {
		if e.isWorkflow() {
			lint(t, e.page, e.line, ownAction.ReplaceAllString(e.text, "uses: ./"))
		}
	}
}

var (
	usesLine   = regexp.MustCompile(`(?m)^\s*(?:- )?uses:.*$`)
	usesPinned = regexp.MustCompile(`^\s*(?:- )?uses: (?:\./\S*|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(?:\.\d+)*)$`)
)

func checkPins(t *testing.T, name, text string) {
	t.Helper()
	for _, line := range usesLine.FindAllString(text, -1) {
		if !usesPinned.MatchString(line) {
			t.Errorf("%s: %q: pin it as OWNER/NAME@<40 hex digits> # vVERSION", name, strings.TrimSpace(line))
		}
	}
}

// A tag can be moved to other code; a commit cannot.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	for _, name := range workflowFiles(t) {
		checkPins(t, name, readFurniture(t, name))
	}
	for _, e := range yamlExamples(t) {
		if e.isWorkflow() {
			checkPins(t, e.page+":"+strconv.Itoa(e.line), ownAction.ReplaceAllString(e.text, "uses: ./"))
		}
	}
}

// workflow is what these tests want to know of a workflow file.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Timeout     int               `yaml:"timeout-minutes"`
		Permissions map[string]string `yaml:"permissions"`
		Steps       []struct {
			Uses string         `yaml:"uses"`
			Run  string         `yaml:"run"`
			With map[string]any `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

func TestWorkflowsAskForLittle(t *testing.T) {
	t.Parallel()
	for _, name := range workflowFiles(t) {
		var w workflow
		if err := yaml.Unmarshal([]byte(readFurniture(t, name)), &w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(w.Permissions) == 0 {
			t.Errorf("%s: state the permissions at the top; without them the token gets the repository's default", name)
		}
		for scope, access := range w.Permissions {
			if access != "read" && access != "none" {
				t.Errorf("%s: permissions: %s: %s: the whole workflow may only read; give a single job what it needs", name, scope, access)
			}
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes; the default is six hours", name, id)
			}
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: job %s: checkout leaves its token in the clone; set persist-credentials: false", name, id)
				}
			}
		}
	}
}

// The gate that contributors run is the gate that CI runs.
func TestWorkflowRunsTheGate(t *testing.T) {
	t.Parallel()
	var w workflow
	if err := yaml.Unmarshal([]byte(readFurniture(t, ".github/workflows/ci.yml")), &w); err != nil {
		t.Fatal(err)
	}
	ran := make(map[string]bool)
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			ran[step.Run] = true
		}
	}
	for _, command := range []string{".ci/run", "go test ./..."} {
		if !ran[command] {
			t.Errorf(".github/workflows/ci.yml has no step that runs %s", command)
		}
	}
}

func TestGateScript(t *testing.T) {
	t.Parallel()
	script := readFurniture(t, ".ci/run")
	for _, part := range []string{"set -euo pipefail", "gofmt", "go vet ./...", "staticcheck", " go test ./...", "go test -race", "-bench"} {
		if !strings.Contains(script, part) {
			t.Errorf(".ci/run lacks %q", part)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(filepath.Join(repositoryRoot, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&0o111 == 0 {
		t.Error(".ci/run is not executable")
	}
	if out, err := exec.Command("bash", "-n", filepath.Join(repositoryRoot, ".ci/run")).CombinedOutput(); err != nil {
		t.Errorf("bash -n .ci/run: %v\n%s", err, out)
	}
}

func TestDependencyUpdates(t *testing.T) {
	t.Parallel()
	var config struct {
		Version int `yaml:"version"`
		Updates []struct {
			Ecosystem string `yaml:"package-ecosystem"`
		} `yaml:"updates"`
	}
	if err := yaml.Unmarshal([]byte(readFurniture(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, update := range config.Updates {
		kept = append(kept, update.Ecosystem)
	}
	slices.Sort(kept)
	if want := []string{"docker", "github-actions", "gomod"}; config.Version != 2 || !slices.Equal(kept, want) {
		t.Errorf(".github/dependabot.yml: version %d keeps %v, want version 2 and %v", config.Version, kept, want)
	}
}

// rootEntries are what may stand at the top of the repository, besides dot files.
var rootEntries = []string{
	"Dockerfile", "LICENSE", "README.md", "action.yml", "budget", "cmd", "docs", "gates", "go.mod", "go.sum",
	"report", "runner", "staticcheck.conf", "testdata",
}

func TestRootStaysSmall(t *testing.T) {
	t.Parallel()
	list := exec.Command("git", "ls-tree", "--name-only", "HEAD")
	list.Dir = repositoryRoot
	out, err := list.Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if !strings.HasPrefix(name, ".") && !slices.Contains(rootEntries, name) {
			t.Errorf("%s stands at the top of the repository; it belongs in a room, in docs/ or in .github/", name)
		}
	}
}

var namedPath = regexp.MustCompile("`((?:budget|cmd|docs|gates|report|runner|testdata|\\.ci|\\.github)(?:/[\\w.-]+)*)`( \\*\\(planned\\)\\*)?")

// A path that the documentation names is there, or is marked as planned.
func TestPagesNamePathsThatExist(t *testing.T) {
	t.Parallel()
	for _, page := range furnitureFiles(t, "*.md", "docs/*.md", "docs/*/*.md", ".github/*.md") {
		for i, line := range strings.Split(readFurniture(t, page), "\n") {
			for _, m := range namedPath.FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join(repositoryRoot, m[1])); err != nil && m[2] == "" {
					t.Errorf("%s:%d: `%s` is not there", page, i+1, m[1])
				}
			}
		}
	}
}
