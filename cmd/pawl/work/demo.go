package work

import (
	"context"
	_ "embed" // the demo's repository and script
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/cmd/pawl/models"
	"github.com/pawl-ci/pawl/report"
)

//go:embed demo/repo.txtar
var demoRepo []byte

//go:embed demo/script.yaml
var demoScript []byte

func demoCommand(a *cli.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole thing: a real repository, a real bug, a scripted model",
		Long: "Makes a small Go repository with failing tests, runs the bundled workflow on it,\n" +
			"parks at the human gate, answers it, verifies and prints the report. It needs no\n" +
			"key and no network: the model is a script, and is labelled as one wherever its\n" +
			"name is shown. Everything else is real.",
		Example: "  pawl demo\n  pawl demo --into /tmp/try-pawl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), a, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "into", "", "make the repository in `DIR`, which must not exist or be empty")
	return cmd
}

// demo is `pawl run` and `pawl resume` on a repository of its own.
func demo(ctx context.Context, a *cli.App, dir string) error {
	dir, main, err := MakeDemo(dir)
	if err != nil {
		return err
	}
	a.Dir, a.StoreDir = dir, ""
	quiet := *a
	quiet.Out = a.Err // the report is what the demo prints to standard output
	a.Notice("a Go repository whose tests fail is in %s", dir)
	a.Notice("the model is a script (script.yaml); the repository, git, the tests and the record are real")
	flags := runFlags{models: models.Defaults(), noInteractive: true, sandbox: sandboxAuto, toolTimeout: 5 * time.Minute}
	flags.models.Script = filepath.Join(dir, ".git", "pawl-demo-script.yaml")
	parked, err := run(ctx, &quiet, "ci-fix.iter", &flags)
	if err != nil {
		return err
	}
	if parked.summary.Status != report.Parked {
		return cli.Host(fmt.Errorf("the demo's run is %s, not parked at its gate: %s", parked.summary.Status, parked.summary.Outcome.Detail), "the demo runs go test in a repository of its own and talks to itself over 127.0.0.1")
	}
	a.Notice("parked, costing nothing. A person would now look and say: pawl -C %s resume --answer approved=true", dir)
	flags.answers = []string{"approve.approved=true"}
	done, err := resume(ctx, a, string(parked.summary.RunID), &resumeFlags{runFlags: flags})
	if err != nil || a.JSON || done.summary.Status != report.Done {
		return err
	}
	return demoEpilogue(a, dir, main, done.summary)
}

// demoEpilogue shows the whole report and that the user's branch is what it was.
func demoEpilogue(a *cli.App, dir string, main plumbing.Hash, s report.Summary) error {
	repo, err := git.PlainOpen(dir)
	if err != nil {
		return cli.Host(fmt.Errorf("open the demo's repository: %w", err), "")
	}
	head, err := repo.Head()
	if err != nil {
		return cli.Host(fmt.Errorf("read the demo's branch: %w", err), "")
	}
	if head.Hash() != main {
		return cli.Host(fmt.Errorf("branch %s moved to %s", head.Name().Short(), head.Hash()), "this must not happen: please report it")
	}
	text, err := os.ReadFile(s.Paths.Report)
	if err != nil {
		return cli.Host(fmt.Errorf("read the report: %w", err), "")
	}
	fmt.Fprintf(a.Out, "\n%s\n", text)
	fmt.Fprintf(a.Out, "Branch %s is where it was; the fix is on %s.\n\n  cd %s\n  git log --stat %s\n\nand from here:\n\n  go run ./cmd/pawl -C %s inspect --events %s\n",
		head.Name().Short(), s.Branch, dir, s.Branch, dir, s.RunID)
	return nil
}

// MakeDemo writes the demo's repository into dir, or a new directory when dir is
// empty, and commits it. It returns the absolute path and the only commit.
func MakeDemo(dir string) (path string, main plumbing.Hash, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pawl-demo-"); err != nil {
			return "", main, cli.Host(fmt.Errorf("make the demo's directory: %w", err), "")
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", main, cli.Host(fmt.Errorf("find the demo's directory: %w", err), "")
	}
	if entries, readErr := os.ReadDir(dir); readErr == nil && len(entries) > 0 {
		return "", main, cli.Usage(fmt.Errorf("%s is not empty", dir), "name a directory that does not exist yet")
	}
	if main, err = commitDemo(dir); err != nil {
		return "", main, cli.Host(fmt.Errorf("make the demo's repository: %w", err), cli.DiskHint(err))
	}
	return dir, main, nil
}

func commitDemo(dir string) (plumbing.Hash, error) {
	for _, f := range txtar.Parse(demoRepo).Files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755), os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644)); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	repo, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: plumbing.Main}})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree, err := repo.Worktree()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := tree.AddGlob("."); err != nil {
		return plumbing.ZeroHash, err
	}
	author := &object.Signature{Name: "Ada", Email: "ada@example.com", When: time.Now()}
	hash, err := tree.Commit("tally: the median", &git.CommitOptions{Author: author})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return hash, os.WriteFile(filepath.Join(dir, ".git", "pawl-demo-script.yaml"), demoScript, 0o644)
}
