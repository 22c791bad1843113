package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// An agent may leave a git repository inside the worktree. git would record it as
// a submodule: a commit id that nobody else has, with none of its files. That
// would hide content from review and make tests pass on files that are not in
// the commit. So its files are taken as ordinary files; its .git stays where it
// is and is never part of anything.

// withoutLinks returns tree, or what becomes of it when the repositories in it
// that are no submodules of the last tree are taken as files.
func (t *Tree) withoutLinks(ctx context.Context, tree string) (string, error) {
	links, err := t.newLinks(ctx, tree)
	if err != nil || len(links) == 0 {
		return tree, err
	}
	if _, err := t.absorb(ctx, links); err != nil {
		return "", err
	}
	if tree, err = t.writeTree(ctx); err != nil {
		return "", err
	}
	if links, err = t.newLinks(ctx, tree); err == nil && len(links) > 0 {
		err = fmt.Errorf("%q is a git repository of its own, and its files cannot be taken into the branch", links)
	}
	return tree, err
}

// newLinks lists the paths that became submodules since the last tree.
func (t *Tree) newLinks(ctx context.Context, tree string) ([]string, error) {
	out, err := t.do(ctx, "diff-tree", "-r", "--raw", "-z", "--no-renames", t.tree, tree)
	if err != nil {
		return nil, err
	}
	var links []string
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		modes := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(modes) > 1 && modes[1] == modeLink && modes[0] != modeLink {
			links = append(links, fields[i+1])
		}
	}
	return links, nil
}

const modeLink = "160000"

// absorb takes the files of nested repositories into the index; links are those
// that stand in the index as submodules. It reports whether it found any.
func (t *Tree) absorb(ctx context.Context, links []string) (bool, error) {
	if err := t.updateIndex(ctx, "--force-remove", links); err != nil {
		return false, err
	}
	out, err := t.do(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return false, err
	}
	var files, hollow []string
	for _, name := range strings.Split(out, "\x00") {
		repo, nested := strings.CutSuffix(name, "/")
		if !nested {
			continue
		}
		inner, err := t.filesOf(ctx, repo)
		if err != nil {
			return false, err
		}
		if len(inner) == 0 {
			hollow = append(hollow, ":(exclude,literal)"+repo)
		}
		files = append(files, inner...)
	}
	if len(files)+len(hollow) == 0 {
		return false, nil
	}
	if err := t.updateIndex(ctx, "--add", files); err != nil {
		return false, err
	}
	_, err = t.do(ctx, append([]string{"add", "--all", "--", "."}, hollow...)...)
	return true, err
}

// dropNested removes the .git of repositories that were made in directories of
// the tree: git commands there would not see the worktree's own state.
func (t *Tree) dropNested(ctx context.Context) error {
	out, err := t.do(ctx, "ls-files", "-z")
	if err != nil {
		return err
	}
	seen := map[string]bool{".": true} // the worktree's own .git stays
	for _, name := range strings.Split(out, "\x00") {
		for dir := path.Dir(name); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if err := forceRemove(filepath.Join(t.Path, filepath.FromSlash(dir), ".git")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Tree) updateIndex(ctx context.Context, mode string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := t.call(ctx, git.Call{Stdin: strings.Join(names, "\x00") + "\x00", Args: []string{"update-index", mode, "--replace", "-z", "--stdin"}})
	return err
}

// filesOf lists the files below a nested repository that are not ignored, as
// slash paths from the worktree's root.
func (t *Tree) filesOf(ctx context.Context, repo string) ([]string, error) {
	var all []string
	err := fs.WalkDir(os.DirFS(filepath.Join(t.Path, filepath.FromSlash(repo))), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Name() != ".git" && (d.Type().IsRegular() || d.Type() == fs.ModeSymlink):
			all = append(all, path.Join(repo, p))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list nested repository %s: %w", repo, err)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return t.withoutIgnored(ctx, all)
}

func (t *Tree) withoutIgnored(ctx context.Context, names []string) ([]string, error) {
	out, err := t.call(ctx, git.Call{Stdin: strings.Join(names, "\x00") + "\x00", Args: []string{"check-ignore", "--no-index", "-z", "--stdin"}})
	var none *git.Error
	if err != nil && !(errors.As(err, &none) && none.Exit == 1 && none.Message == "") {
		return nil, err
	}
	ignored := map[string]bool{}
	for _, name := range strings.Split(out, "\x00") {
		ignored[name] = true
	}
	var kept []string
	for _, name := range names {
		if !ignored[name] {
			kept = append(kept, name)
		}
	}
	return kept, nil
}
