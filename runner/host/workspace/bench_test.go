package workspace

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// benchRepo is a repository of n small files, in PAWL_BENCH_DIR when that is set
// (say, a tmpfs) and in a temporary directory otherwise.
func benchRepo(b *testing.B, n int) (*Repo, []string) {
	b.Helper()
	root := b.TempDir()
	if dir := os.Getenv("PAWL_BENCH_DIR"); dir != "" {
		var err error
		if root, err = os.MkdirTemp(dir, "bench-"); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = forceRemove(root) })
	}
	dir := filepath.Join(root, "repo")
	for i := range n {
		file := filepath.Join(dir, fmt.Sprintf("d%d/s%d/f%d.txt", i/100, i%10, i))
		text := strings.Repeat(fmt.Sprintln("line of file", i), 250) // about 5 KB
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=u", "-c", "user.email=u@e", "commit", "-qm", "base"}, {"repack", "-adq"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	r, err := Open(context.Background(), dir, Options{Env: env})
	if err != nil {
		b.Fatal(err)
	}
	return r, env
}

func (r *Repo) benchTree(b *testing.B, i int) *Tree {
	b.Helper()
	t, err := r.Start(context.Background(), fmt.Sprintf("pawl/w/r%d", i), filepath.Join(filepath.Dir(r.Top), fmt.Sprint("tree", i)), "")
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func BenchmarkWorkspace(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{100, 10_000} {
		if n > 1000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint("files=", n), func(b *testing.B) {
			r, env := benchRepo(b, n)
			tree := r.benchTree(b, 0)
			edit := func(i int) {
				if err := os.WriteFile(filepath.Join(tree.Path, "d0/s0/f0.txt"), []byte(fmt.Sprint("edit ", b.Name(), b.N, " ", i)), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			run := func(name string, before func(i int), op func(i int) error) {
				b.Run(name, func(b *testing.B) {
					var spawns int64
					for i := range b.N {
						b.StopTimer()
						before(i)
						spawns -= r.git.Spawns()
						b.StartTimer()
						if err := op(i); err != nil {
							b.Fatal(err)
						}
						spawns += r.git.Spawns()
					}
					b.ReportMetric(float64(spawns)/float64(b.N), "spawns/op")
				})
			}
			nothing := func(int) {}
			made := 0
			next := func() int { made++; return made }
			run("Open", nothing, func(int) error { _, err := Open(ctx, r.Top, Options{Env: env}); return err })
			run("Snapshot/unchanged", nothing, func(int) error { _, err := tree.Snapshot(ctx); return err })
			run("Snapshot/changed", edit, func(int) error { _, err := tree.Snapshot(ctx); return err })
			run("Commit/unchanged", func(int) { _, _, _ = tree.Commit(ctx, testCommit("x")) }, func(int) error { _, _, err := tree.Commit(ctx, testCommit("x")); return err })
			run("Commit/changed", edit, func(int) error { _, _, err := tree.Commit(ctx, testCommit("x")); return err })
			run("Commit/after snapshot", func(i int) { edit(i); _, _ = tree.Snapshot(ctx) }, func(int) error { _, _, err := tree.Commit(ctx, testCommit("x")); return err })
			run("Restore/one file", edit, func(int) error { return tree.Restore(ctx, tree.Head(), "") })
			run("Diff", edit, func(int) error { _, err := tree.Diff(ctx, r.Head); return err })
			run("Tick", nothing, func(i int) error {
				t := r.benchTree(b, next())
				if err := os.WriteFile(filepath.Join(t.Path, "d0/s0/f0.txt"), []byte("x"), 0o644); err != nil {
					return err
				}
				if _, _, err := t.Commit(ctx, testCommit("x")); err != nil {
					return err
				}
				return r.Remove(ctx, t.Path)
			})
			run("TickByHand", nothing, func(i int) error {
				path, branch := filepath.Join(filepath.Dir(r.Top), "plain"), fmt.Sprint("plain", next())
				script := fmt.Sprintf("git worktree add -q -b %s %s && cd %s && echo x >d0/s0/f0.txt && git add -A && git -c user.name=u -c user.email=u@e commit -qm x && cd .. && git -C repo worktree remove -f %s", branch, path, path, path)
				cmd := exec.Command("sh", "-c", script)
				cmd.Dir = r.Top
				out, err := cmd.CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, out)
				}
				return err
			})
			_ = r.Wait(ctx)
		})
	}
}
