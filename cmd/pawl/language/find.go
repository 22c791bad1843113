package language

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/runner/host/workspace/git"
)

// target is a file to be read.
type target struct {
	name    string // as the user reads it: relative to the directory of -C
	path    string // as the process opens it; "" is standard input
	problem error  // why it cannot be read, when that is known already
}

const (
	extension = ".iter"
	stdinName = "-"
)

// findWorkflows turns arguments into files, each of them once, in the order of the
// arguments and by name within one. Without arguments it finds every workflow of
// the repository that git does not ignore.
func findWorkflows(ctx context.Context, a *cli.App, args []string) ([]target, error) {
	f := &finder{app: a, seen: make(map[string]bool)}
	return f.find(ctx, args)
}

// findBelow is findWorkflows for files that are to be written: without arguments
// it stays below the directory of -C, and a link is followed only where it is
// named itself.
func findBelow(ctx context.Context, a *cli.App, args []string) ([]target, error) {
	f := &finder{app: a, seen: make(map[string]bool), careful: true}
	return f.find(ctx, args)
}

// finder collects files.
type finder struct {
	app     *cli.App
	seen    map[string]bool // absolute paths
	careful bool            // nothing above the directory of -C, nothing that links lead to
	targets []target
}

func (f *finder) find(ctx context.Context, args []string) ([]target, error) {
	if len(args) == 0 {
		err := f.repository(ctx)
		return f.targets, err
	}
	for _, arg := range args {
		if err := f.argument(arg); err != nil {
			return nil, err
		}
	}
	return f.targets, nil
}

// argument adds what one argument means: a file, a directory, a glob, or standard
// input.
func (f *finder) argument(arg string) error {
	if arg == stdinName {
		f.add(target{name: "<stdin>"})
		return nil
	}
	path := f.app.Path(arg)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return f.directory(arg, path)
	case err == nil:
		f.add(target{name: arg, path: path})
		return nil
	case strings.ContainsAny(arg, "*?[{"):
		return f.glob(arg)
	}
	f.add(target{name: arg, path: path, problem: cli.Reason(err)})
	return nil
}

func (f *finder) add(t target) {
	key := t.path
	if abs, err := filepath.Abs(t.path); err == nil && t.path != "" {
		key = abs
	}
	if !f.seen[key] {
		f.seen[key] = true
		f.targets = append(f.targets, t)
	}
}

// foreign are directories whose workflows are not the user's own: git's, pawl's
// worktrees, which hold copies, and packages of others.
var foreign = []string{".git", ".pawl", "node_modules"}

// directory adds every workflow below a directory. Directories that cannot be
// read are problems of their own; links to directories are not followed.
func (f *finder) directory(arg, path string) error {
	before := len(f.targets)
	err := filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
		name := filepath.Join(arg, strings.TrimPrefix(p, path))
		switch {
		case err != nil:
			f.add(target{name: name, path: p, problem: cli.Reason(err)})
		case entry.IsDir() && p != path && slices.Contains(foreign, entry.Name()):
			return fs.SkipDir
		case filepath.Ext(p) == extension && f.regular(p):
			f.add(target{name: name, path: p})
		}
		return nil
	})
	if err == nil && len(f.targets) == before && !f.any(arg) {
		return cli.Usage(fmt.Errorf("%s: there is no %s file in this directory", arg, extension), "pawl init makes one")
	}
	return err
}

// any reports whether an earlier argument has given a file below the directory.
func (f *finder) any(dir string) bool {
	return slices.ContainsFunc(f.targets, func(t target) bool {
		rel, err := filepath.Rel(dir, t.name)
		return err == nil && filepath.IsLocal(rel)
	})
}

// regular reports whether path is a file, or a link to one where links count.
func (f *finder) regular(path string) bool {
	stat := os.Stat
	if f.careful {
		stat = os.Lstat
	}
	info, err := stat(path)
	return err == nil && info.Mode().IsRegular()
}

// glob adds the workflows that a pattern matches, ** included.
func (f *finder) glob(arg string) error {
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(arg))
	matches, err := doublestar.Glob(os.DirFS(f.app.Path(base)), pattern, doublestar.WithFilesOnly())
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: this is no pattern: %w", arg, err), "a bracket or brace that is open must be closed")
	}
	slices.Sort(matches)
	found := false
	for _, m := range matches {
		name := filepath.Join(base, filepath.FromSlash(m))
		if filepath.Ext(m) != extension || isForeign(m, pattern) || !f.regular(f.app.Path(name)) {
			continue
		}
		found = true
		f.add(target{name: name, path: f.app.Path(name)})
	}
	if !found {
		return cli.Usage(fmt.Errorf("%s: no %s file matches", arg, extension), "** matches any number of directories: '**/*.iter'")
	}
	return nil
}

// isForeign reports whether a match lies in a foreign directory that the pattern
// does not name itself.
func isForeign(match, pattern string) bool {
	for part := range strings.SplitSeq(match, "/") {
		if slices.Contains(foreign, part) && !strings.Contains(pattern, part) {
			return true
		}
	}
	return false
}

// repository adds every workflow of the repository around the directory of -C: what
// git tracks or would track. Where there is no git, it is the directory.
func (f *finder) repository(ctx context.Context) error {
	names, err := f.listed(ctx)
	if err != nil {
		return f.directory(".", f.app.Path("."))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		name = filepath.FromSlash(name)
		if path := f.app.Path(name); f.regular(path) {
			f.add(target{name: name, path: path})
		}
	}
	if len(f.targets) == 0 {
		where := "in this repository"
		if f.careful {
			where = "below this directory"
		}
		return cli.Usage(fmt.Errorf("there is no %s file %s", extension, where), "pawl init makes one")
	}
	return nil
}

// listed asks git for the workflows of the whole repository, or of what lies below
// the directory of -C, by their paths from that directory.
func (f *finder) listed(ctx context.Context) ([]string, error) {
	bin, err := git.Find("", f.app.Env.Lines())
	if err != nil {
		return nil, err
	}
	names := ":/*" + extension
	if f.careful {
		names = "*" + extension
	}
	out, err := bin.Run(ctx, git.Call{
		Dir: cmp.Or(f.app.Dir, "."), Args: []string{"ls-files", "-z", "-c", "-o", "--exclude-standard", "--", names},
	})
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}
