package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/report/actions"
	"github.com/pawl-ci/pawl/report/score"
	"github.com/pawl-ci/pawl/runner/host/agent"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/check"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/front"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/lang/recipe"
)

// Source is a workflow as it was read and checked.
type Source struct {
	Path     string // as the user gave it
	File     *diag.File
	Workflow *ir.Workflow // nil when the text could not be lowered
	Findings diag.List    // sorted; say whether the workflow can run

	Recipe       *diag.File // that was applied to the workflow; nil without one
	RecipeName   string
	RecipeDigest string
	Policy       *score.Policy // of the recipe; nil without one
}

// CompileOptions is what compiling needs beside the text.
type CompileOptions struct {
	Lookup func(name string) (string, bool) // ${NAME}
	Model  string                           // default model, or ""
	Prices budget.Table
	Recipe *diag.File // applied to the workflow; nil for none
}

// ReadSource reads and compiles the workflow at path, relative to the working
// directory that -C names. A recipe in its place stands for the workflow that it
// names, changed by it.
func (a *App) ReadSource(path string, opt CompileOptions) (*Source, error) {
	text, err := os.ReadFile(a.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usage(fmt.Errorf("%s: there is no such file", path), "give the path of a workflow, for example: pawl run ci-fix.iter")
	}
	if err != nil {
		return nil, Usage(fmt.Errorf("read workflow: %w", err), "")
	}
	s, err := a.CompileText(path, a.Path(path), string(text), opt)
	if err == nil && s.Workflow == nil && s.RecipeName != "" && !s.Findings.HasErrors() {
		return nil, Usage(fmt.Errorf("recipe %s does not say where its workflow is", path),
			"add workflow_ref: {path: FILE}, or name the workflow: pawl run WORKFLOW.iter --recipe "+path)
	}
	return s, err
}

// CompileText compiles a workflow, or a recipe with the workflow that it names;
// the source of one that names none has no workflow. name stands in findings, and
// path is where the text was read, or "".
func (a *App) CompileText(name, path, text string, opt CompileOptions) (*Source, error) {
	if file := diag.NewFile(name, text); recipe.Is(file) {
		return a.ofRecipe(file, path, opt)
	}
	return Compile(name, text, opt), nil
}

// Compile turns a text into a checked workflow. It always returns a source;
// Findings say whether it can run.
func Compile(path, text string, opt CompileOptions) *Source {
	s := &Source{Path: path, File: diag.NewFile(path, text)}
	s.Workflow, s.Findings = front.Load(s.File, front.Options{Env: opt.Lookup})
	sound := s.Workflow != nil && !s.Findings.HasErrors()
	if sound && opt.Recipe != nil {
		s.season(opt) // what is wrong with the recipe hides nothing that the rules find
	}
	if sound {
		s.Findings = append(s.Findings, check.Run(s.Workflow, check.Options{
			Writes: tool.Writes,
			Tools:  tool.Canonical, ToolNames: slices.Sorted(slices.Values(tool.Names())), Backends: agent.Names(), DefaultModel: opt.Model, Prices: opt.Prices,
		})...)
	}
	s.Findings.Sort()
	return s
}

// Say prints the findings for a person and keeps them as annotations. Its error
// says that the workflow cannot run, with nothing left to be said.
func (a *App) Say(s *Source) error {
	a.Annotations = actions.FromDiagnostics(s.Findings)
	if err := diag.Render(a.Err, s.Findings, a.Colors(a.Err)); err != nil {
		return Host(fmt.Errorf("write findings: %w", err), "")
	}
	if s.Findings.HasErrors() {
		return Said(ExitUsage)
	}
	return nil
}

// LookupEnv is the environment as workflows may see it: names that may hold a
// secret are not there.
func (a *App) LookupEnv(name string) (string, bool) {
	if !front.EnvAllowed(name) {
		return "", false
	}
	v, ok := a.Env[name]
	return v, ok
}
