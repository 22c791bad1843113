package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/recipe"
)

// ReadRecipe reads the text of a recipe, relative to the working directory that
// -C names. What is wrong inside is found when it is compiled with a workflow.
func (a *App) ReadRecipe(path string) (*diag.File, error) {
	text, err := os.ReadFile(a.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usage(fmt.Errorf("%s: there is no such file", path), "give the path of a recipe, for example: --recipe fast.yaml")
	}
	if err != nil {
		return nil, Usage(fmt.Errorf("read recipe: %w", err), "")
	}
	return diag.NewFile(path, string(text)), nil
}

// ofRecipe follows a recipe that was given in the place of a workflow, and read
// from path, to the workflow it names. The source has no workflow when the recipe
// names none.
func (a *App) ofRecipe(file *diag.File, path string, opt CompileOptions) (*Source, error) {
	if opt.Recipe != nil {
		return nil, Usage(fmt.Errorf("%s is a recipe, and so is %s", file.Name, opt.Recipe.Name), "give a workflow with --recipe, or the recipe alone")
	}
	s := &Source{Path: file.Name, File: file, Recipe: file}
	r, list := recipe.Parse(file)
	s.Findings = list
	if r == nil || list.HasErrors() {
		return s, nil
	}
	s.RecipeName, s.RecipeDigest = r.Name, r.Digest()
	if r.Workflow.Path == "" {
		return s, nil
	}
	named := filepath.FromSlash(r.Workflow.Path)
	for _, at := range [][2]string{
		{filepath.Join(filepath.Dir(file.Name), named), filepath.Join(filepath.Dir(path), named)}, {named, a.Path(named)},
	} {
		text, err := os.ReadFile(at[1])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, Usage(fmt.Errorf("read the workflow of recipe %s: %w", file.Name, err), "")
		}
		opt.Recipe = file
		return Compile(at[0], string(text), opt), nil
	}
	return nil, Usage(fmt.Errorf("recipe %s names workflow %s, and there is no such file", file.Name, named),
		"the path is taken from the recipe's directory, then from the working directory")
}

// season applies the recipe that was asked for to a workflow without errors.
func (s *Source) season(opt CompileOptions) {
	s.Recipe = opt.Recipe
	r, list := recipe.Parse(opt.Recipe)
	s.Findings = append(s.Findings, list...)
	if r == nil {
		return
	}
	applied, policy, list := recipe.Apply(s.Workflow, r, recipe.Options{
		Env: opt.Lookup, Tools: tool.Canonical, ToolNames: slices.Sorted(slices.Values(tool.Names())),
	})
	s.Workflow, s.Policy, s.RecipeName, s.RecipeDigest = applied, policy, r.Name, r.Digest()
	s.Findings = append(s.Findings, list...)
}
