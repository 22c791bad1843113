package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// actionFile is action.yml.
type actionFile struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Author      string `yaml:"author"`
	Branding    struct {
		Icon  string `yaml:"icon"`
		Color string `yaml:"color"`
	} `yaml:"branding"`
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Required    bool   `yaml:"required"`
		Default     any    `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
	} `yaml:"outputs"`
	Runs struct {
		Using string `yaml:"using"`
		Image string `yaml:"image"`
	} `yaml:"runs"`
}

func readAction(t *testing.T) actionFile {
	t.Helper()
	var a actionFile
	if err := yaml.UnmarshalWithOptions([]byte(readFurniture(t, "action.yml")), &a, yaml.DisallowUnknownField()); err != nil {
		t.Fatalf("action.yml: %v", err)
	}
	return a
}

var kebab = regexp.MustCompile(`^[a-z]+(?:-[a-z0-9]+)*$`)

func TestAction(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	if a.Name == "" || a.Description == "" || len(a.Inputs) == 0 || len(a.Outputs) == 0 {
		t.Error("action.yml needs a name, a description, inputs and outputs")
	}
	for name, input := range a.Inputs {
		checkEntry(t, "input "+name, name, input.Description)
		if input.Required == (input.Default != nil) {
			t.Errorf("action.yml: input %s: give it a default, or make it required, and not both", name)
		}
	}
	for name, output := range a.Outputs {
		checkEntry(t, "output "+name, name, output.Description)
	}
	if a.Runs.Using != "docker" {
		t.Errorf("action.yml: runs.using is %q, want docker", a.Runs.Using)
	}
	if a.Runs.Image != "Dockerfile" && !imageByDigest.MatchString(a.Runs.Image) {
		t.Errorf("action.yml: runs.image is %q, want Dockerfile or an image by digest", a.Runs.Image)
	}
}

var imageByDigest = regexp.MustCompile(`^docker://[\w./-]+(?::[\w.-]+)?@sha256:[0-9a-f]{64}$`)

func checkEntry(t *testing.T, what, name, description string) {
	t.Helper()
	if !kebab.MatchString(name) {
		t.Errorf("action.yml: %s: names are in kebab-case", what)
	}
	if !strings.HasSuffix(description, ".") {
		t.Errorf("action.yml: %s: describe it in a sentence, not %q", what, description)
	}
}

// What action.yml promises, the program keeps: every input and output is named
// in the code of cmd/pawl/work or report/actions.
func TestActionKeepsItsPromises(t *testing.T) {
	t.Parallel()
	said := stringsIn(t, "work", filepath.Join(repositoryRoot, "report", "actions"))
	a := readAction(t)
	for _, name := range slices.Sorted(maps.Keys(a.Inputs)) {
		if !said[name] && !said["INPUT_"+strings.ToUpper(name)] {
			t.Errorf("action.yml has an input %s that no code in cmd/pawl/work reads", name)
		}
	}
	for _, name := range inputsRead(t) {
		if _, declared := a.Inputs[name]; !declared {
			t.Errorf("the code of cmd/pawl/work reads an input %s that action.yml does not have", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Outputs)) {
		if !said[name] {
			t.Errorf("action.yml has an output %s that no code in cmd/pawl/work or report/actions writes", name)
		}
	}
}

// eachNode shows visit the syntax of the product code of the folders.
func eachNode(t *testing.T, visit func(ast.Node), folders ...string) {
	t.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range slices.DeleteFunc(files, isTest) {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(syntax, func(n ast.Node) bool { visit(n); return true })
		}
	}
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// literal is the text of a string literal.
func literal(n ast.Node) (text string, ok bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// stringsIn are the string literals in the product code of the folders.
func stringsIn(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	said := make(map[string]bool)
	eachNode(t, func(n ast.Node) {
		if text, ok := literal(n); ok {
			said[text] = true
		}
	}, folders...)
	return said
}

// inputsRead are the inputs that the action mode asks for by name.
func inputsRead(t *testing.T) []string {
	t.Helper()
	var names []string
	eachNode(t, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "GetInput" {
			if name, ok := literal(call.Args[0]); ok {
				names = append(names, name)
			}
		}
	}, "work")
	if len(names) == 0 {
		t.Fatal("found no input that is read; where is the action's code?")
	}
	return names
}

var dockerFrom = regexp.MustCompile(`^FROM [\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}(?: AS \w+)?$`)

func TestDockerfile(t *testing.T) {
	t.Parallel()
	text := readFurniture(t, "Dockerfile")
	stages := 0
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "FROM ") {
			stages++
			if !dockerFrom.MatchString(line) {
				t.Errorf("Dockerfile: %q: name the image as NAME:TAG@sha256:DIGEST", line)
			}
		}
	}
	if stages != 2 {
		t.Errorf("Dockerfile has %d stages, want one that builds and one that runs", stages)
	}
	for _, part := range []string{"CGO_ENABLED=0", "-trimpath", "-s -w", "ca-certificates git", `ENTRYPOINT ["/pawl", "action"]`} {
		if !strings.Contains(text, part) {
			t.Errorf("Dockerfile lacks %q", part)
		}
	}
	if _, err := os.Stat(filepath.Join(repositoryRoot, ".dockerignore")); err != nil {
		t.Errorf("the build context: %v", err)
	}
}
