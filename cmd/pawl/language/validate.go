package language

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// validateFlags are the flags of validate.
type validateFlags struct {
	format string
	strict bool
	cost   bool
	model  string
	prices string
	quiet  bool
	recipe string
}

func validateCommand(a *cli.App) *cobra.Command {
	f := &validateFlags{}
	cmd := &cobra.Command{
		Use:   "validate [FILE|DIR|GLOB]...",
		Short: "Check workflows without running them",
		Long: "Parses, compiles and checks workflows and runs nothing. A directory means every\n" +
			".iter file below it, a glob may hold **, - is standard input, and nothing at all\n" +
			"means every .iter file of the repository that git does not ignore. A recipe is\n" +
			"checked with the workflow that it names.\n\n" +
			"Findings go to standard error, or, with another format than text, to standard\n" +
			"output. Exit status: 0 all can run, 2 at least one cannot or could not be read;\n" +
			"warnings count with --strict only.",
		Example: "  pawl validate\n  pawl validate ci-fix.iter flows/ 'more/**/*.iter'\n  pawl validate --strict --format github\n  pawl validate fast.yaml\n  pawl validate --format sarif > pawl.sarif",
		RunE: func(cmd *cobra.Command, args []string) error {
			return validate(cmd.Context(), a, args, f)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORM` of the findings: "+strings.Join(formatNames, ", "))
	cmd.Flags().BoolVar(&f.cost, "cost", false, "show the most that one run can do: model calls, tokens, dollars")
	cmd.Flags().StringVar(&f.model, "model", "", "as with run: this model for every node")
	cmd.Flags().StringVar(&f.prices, "prices", "", "price table `FILE` (JSON) that wins over the built-in one")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "warnings too end with exit status 2")
	cmd.Flags().StringVar(&f.recipe, "recipe", "", "check every workflow as the recipe in `FILE` changes it")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "show errors only, and no summary")
	return cmd
}

// formatNames are the words of --format.
var formatNames = []string{"text", "json", "sarif", "github"}

func validate(ctx context.Context, a *cli.App, args []string, f *validateFlags) error {
	if a.JSON && f.format == "text" {
		f.format = "json"
	}
	if !slices.Contains(formatNames, f.format) {
		return cli.Usage(fmt.Errorf("--format %s: there is no such form", f.format), diag.Suggest(f.format, formatNames))
	}
	if f.cost && f.format == "sarif" {
		return cli.Usage(errors.New("--cost has no place in SARIF"), "use --format text, json or github")
	}
	targets, err := findWorkflows(ctx, a, args)
	if err != nil {
		return err
	}
	v := &validation{app: a, flags: f, rootNames: f.format == "sarif" || f.format == "github"}
	if v.prices, err = readPrices(a, f.prices, f.model); err != nil {
		return err
	}
	if f.recipe != "" {
		if v.recipe, err = a.ReadRecipe(f.recipe); err != nil {
			return err
		}
	}
	if err := v.check(ctx, targets); err != nil {
		return err
	}
	if err := v.show(); err != nil {
		return cli.Host(fmt.Errorf("write findings: %w", err), "")
	}
	if v.fails() {
		return cli.Said(cli.ExitUsage)
	}
	return nil
}

// validation is what one call of validate finds.
type validation struct {
	app       *cli.App
	flags     *validateFlags
	prices    budget.Table
	recipe    *diag.File // applied to every workflow; nil for none
	rootNames bool       // files are named from the repository's root, as GitHub needs it
	files     []checked
	errors    int // findings, and files that could not be read
	warnings  int
}

// checked is one file with what was found in it.
type checked struct {
	name     string
	problem  error  // why it could not be read
	workflow string // its name; "" when the text has none
	recipe   string // the name of the recipe that was applied, or "" without one
	nodes    int    // without done and fail
	findings diag.List
	errors   int
	warnings int
	cost     *cost // nil unless it was asked for and the workflow can run
}

// check reads and checks every file, several at a time. The results stand in the
// order of the targets.
func (v *validation) check(ctx context.Context, targets []target) error {
	v.files = make([]checked, len(targets))
	bar := newProgress(v.app, len(targets))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(targets)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(targets) {
					return
				}
				v.files[i] = v.file(targets[i])
				bar.step()
			}
		})
	}
	workers.Wait()
	bar.end()
	for i := range v.files {
		v.errors += v.files[i].errors
		v.warnings += v.files[i].warnings
	}
	if ctx.Err() != nil {
		return cli.Said(cli.ExitStopped)
	}
	return nil
}

// file checks one file.
func (v *validation) file(t target) checked {
	c := checked{name: v.named(t)}
	text, err := v.read(t)
	if err != nil {
		c.problem, c.errors = err, 1
		return c
	}
	s, err := v.app.CompileText(c.name, t.path, text, cli.CompileOptions{Lookup: v.app.LookupEnv, Model: v.flags.model, Prices: v.prices, Recipe: v.recipe})
	if err != nil {
		c.problem, c.errors = err, 1
		return c
	}
	c.findings, c.recipe, c.cost = s.Findings, s.RecipeName, v.worstCase(s)
	if s.Workflow != nil {
		c.workflow, c.nodes = s.Workflow.Name, len(s.Workflow.Nodes)-2
	}
	for _, d := range c.findings {
		if d.Severity == diag.Error {
			c.errors++
		} else {
			c.warnings++
		}
	}
	return c
}

func (v *validation) read(t target) (string, error) {
	if t.problem != nil {
		return "", t.problem
	}
	if t.path == "" {
		text, err := io.ReadAll(v.app.In)
		return string(text), err
	}
	text, err := os.ReadFile(t.path)
	if err != nil {
		return "", cli.Reason(err)
	}
	return string(text), nil
}

// named is the name under which a file's findings stand.
func (v *validation) named(t target) string {
	if !v.rootNames || t.path == "" {
		return t.name
	}
	abs, err := filepath.Abs(t.path)
	if err != nil {
		return filepath.ToSlash(t.name)
	}
	rel, err := filepath.Rel(cmp.Or(rootOf(filepath.Dir(abs)), filepath.Dir(abs)), abs)
	if err != nil {
		return filepath.ToSlash(t.name)
	}
	return filepath.ToSlash(rel)
}

// rootOf is the nearest directory from dir upwards that git or the runner would
// call a repository, or "".
func rootOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func (v *validation) fails() bool {
	return v.errors > 0 || v.flags.strict && v.warnings > 0
}
