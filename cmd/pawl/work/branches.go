package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/host/tool"
	"github.com/pawl-ci/pawl/runner/host/verify"
	"github.com/pawl-ci/pawl/runner/host/workspace"
	"github.com/pawl-ci/pawl/runner/machine"
)

// bench sets up what works in one worktree. Commands there may write to it, and
// to no worktree beside it. tree is nil for a workflow without one.
func (j *job) bench(root string, tree *workspace.Tree, base string) (p runner.Place, done func() error, err error) {
	policy := j.cage.policy
	if own := j.workDir(); policy != nil && root != own {
		other := *policy
		other.Write = slices.Clone(policy.Write)
		if i := slices.Index(other.Write, own); i >= 0 {
			other.Write[i] = root
		}
		policy = &other
	}
	gitDir := ""
	if tree != nil {
		gitDir = tree.GitDir()
	}
	shell := tool.NewShell(tool.ShellConfig{
		Root: root, Env: j.cage.env, RunID: j.place.Mark(j.id), Timeout: j.flags.toolTimeout,
		Confine: policy, Required: j.flags.sandbox == sandboxRequired,
	})
	builtin, err := tool.New(tool.Config{Root: root, Shell: shell, Base: base, Env: j.cage.env, GitDir: gitDir})
	if err != nil {
		return runner.Place{}, nil, cli.Host(fmt.Errorf("set up the tools: %w", err), "")
	}
	tools := &toolset{Tools: builtin, servers: j.mcp}
	p = runner.Place{Tools: tools, Shell: shell, Verifier: verify.New(shell, os.DirFS(root), verify.Options{})}
	if tree != nil {
		p.Workspace = tree
	}
	programs := j.backends(root, policy)
	p.Backend = programs
	if root != j.workDir() {
		tools = &toolset{Tools: builtin} // MCP servers serve all branches, and end with the run
	}
	return p, func() error { programs.Close(); return tools.Close() }, nil
}

// branches gives parallel branches that write their worktrees.
type branches struct {
	*workspace.Branches
	job  *job
	base string
	mu   sync.Mutex
	done map[string]func() error
}

// Open implements runner.Branches.
func (b *branches) Open(ctx context.Context, at machine.Tree) (runner.Place, error) {
	tree, err := b.Branches.Open(ctx, at.Name, at.Head, at.Snapshot)
	if err != nil {
		return runner.Place{}, err
	}
	p, done, err := b.job.bench(tree.Path, tree, b.base)
	if err != nil {
		return runner.Place{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[at.Name] = done
	return p, nil
}

// Drop implements runner.Branches.
func (b *branches) Drop(ctx context.Context, names []string) error {
	return errors.Join(b.letGo(names), b.Branches.Drop(ctx, names))
}

// letGo closes what is open in the worktrees of those names.
func (b *branches) letGo(names []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []error
	for _, name := range names {
		if done := b.done[name]; done != nil {
			all = append(all, done())
			delete(b.done, name)
		}
	}
	return errors.Join(all...)
}

// close lets go of all worktrees that are still there.
func (b *branches) close() error {
	b.mu.Lock()
	var names []string
	for name := range b.done {
		names = append(names, name)
	}
	b.mu.Unlock()
	return b.letGo(names)
}
