package main

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

	"github.com/pawl-ci/pawl/report"
)

//go:embed demo/repo.txtar
var demoRepo []byte

//go:embed demo/script.yaml
var demoScript []byte

func (a *app) demoCommand() *cobra.Command {
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
			return a.demo(cmd.Context(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "into", "", "make the repository in `DIR`, which must not exist or be empty")
	return cmd
}

// demo is `pawl run` and `pawl resume` on a repository of its own.
func (a *app) demo(ctx context.Context, dir string) error {
	dir, main, err := makeDemo(dir)
	if err != nil {
		return err
	}
	a.dir, a.storeDir = dir, ""
	quiet := *a
	quiet.out = a.errOut // the report is what the demo prints to standard output
	a.notice("a Go repository whose tests fail is in %s", dir)
	a.notice("the model is a script (script.yaml); the repository, git, the tests and the record are real")
	flags := runFlags{modelScript: filepath.Join(dir, ".git", "pawl-demo-script.yaml"), noInteractive: true, modelTimeout: time.Minute, toolTimeout: 5 * time.Minute}
	parked, err := quiet.run(ctx, "ci-fix.iter", &flags)
	if err != nil {
		return err
	}
	if parked.summary.Status != report.Parked {
		return host(fmt.Errorf("the demo's run is %s, not parked at its gate: %s", parked.summary.Status, parked.summary.Outcome.Detail), "the demo runs go test in a repository of its own and talks to itself over 127.0.0.1")
	}
	a.notice("parked, costing nothing. A person would now look and say: pawl -C %s resume --answer approved=true", dir)
	flags.answers = []string{"approve.approved=true"}
	done, err := a.resume(ctx, string(parked.summary.RunID), &resumeFlags{runFlags: flags})
	if err != nil || a.json || done.summary.Status != report.Done {
		return err
	}
	return a.demoEpilogue(dir, main, done.summary)
}

// demoEpilogue shows the whole report and that the user's branch is what it was.
func (a *app) demoEpilogue(dir string, main plumbing.Hash, s report.Summary) error {
	repo, err := git.PlainOpen(dir)
	if err != nil {
		return host(fmt.Errorf("open the demo's repository: %w", err), "")
	}
	head, err := repo.Head()
	if err != nil {
		return host(fmt.Errorf("read the demo's branch: %w", err), "")
	}
	if head.Hash() != main {
		return host(fmt.Errorf("branch %s moved to %s", head.Name().Short(), head.Hash()), "this must not happen: please report it")
	}
	text, err := os.ReadFile(s.Paths.Report)
	if err != nil {
		return host(fmt.Errorf("read the report: %w", err), "")
	}
	fmt.Fprintf(a.out, "\n%s\n", text)
	fmt.Fprintf(a.out, "Branch %s is where it was; the fix is on %s.\n\n  cd %s\n  git log --stat %s\n\nand from here:\n\n  go run ./cmd/pawl -C %s inspect --events %s\n",
		head.Name().Short(), s.Branch, dir, s.Branch, dir, s.RunID)
	return nil
}

// makeDemo writes the repository and commits it; main is its only commit.
func makeDemo(dir string) (path string, main plumbing.Hash, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pawl-demo-"); err != nil {
			return "", main, host(fmt.Errorf("make the demo's directory: %w", err), "")
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", main, host(fmt.Errorf("find the demo's directory: %w", err), "")
	}
	if entries, readErr := os.ReadDir(dir); readErr == nil && len(entries) > 0 {
		return "", main, usage(fmt.Errorf("%s is not empty", dir), "name a directory that does not exist yet")
	}
	if main, err = commitDemo(dir); err != nil {
		return "", main, host(fmt.Errorf("make the demo's repository: %w", err), diskHint(err))
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
