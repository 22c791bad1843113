package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

// long is a file of numbered lines, some of them changed.
func long(changed map[int]string) string {
	var b strings.Builder
	for i := range 30 {
		if text, ok := changed[i]; ok {
			b.WriteString(text + "\n")
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// branched is a place with long.txt, and a worktree for each map of files, which
// are written there and committed; "" deletes a file.
func branched(t *testing.T, work ...map[string]string) (p *place, tree *Tree, b *Branches, made []event.MergeBranch) {
	t.Helper()
	p = withCommit(t)
	p.write("long.txt", long(nil))
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "long")
	tree = p.start()
	b = tree.Branches()
	for i, files := range work {
		name := fmt.Sprintf("b%d", i+2)
		made = append(made, event.MergeBranch{Branch: name, Commit: commitIn(t, b, name, tree.Head(), files)})
	}
	return p, tree, b, made
}

func commitIn(t *testing.T, b *Branches, name, head string, files map[string]string) string {
	t.Helper()
	at, err := b.Open(context.Background(), name, head, "")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if text == "" {
			_ = os.Remove(filepath.Join(at.Path, file))
			continue
		}
		put(t, at.Path, file, text)
	}
	return mustCommit(t, at, "work of "+name)
}

func merge(t *testing.T, b *Branches, ours string, made []event.MergeBranch, sides map[string]string) runner.MergeResult {
	t.Helper()
	got, err := b.Merge(context.Background(), runner.MergeRequest{Ours: ours, Base: ours, Branches: made, Sides: sides, Commit: testCommit("join: merge branch")})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestBranchesMeet(t *testing.T) {
	t.Parallel()
	p, tree, b, made := branched(t,
		map[string]string{"a.txt": "by b2\n", "long.txt": long(map[int]string{2: "two"})},
		map[string]string{"dir/new.txt": "by b3\n", "long.txt": long(map[int]string{20: "twenty"})},
		map[string]string{"dir/b.txt": ""})
	base := tree.Head()
	got := merge(t, b, base, made, nil)
	if got.Merged != 3 || got.Conflicts != nil {
		t.Fatalf("merged %d, conflicts %v", got.Merged, got.Conflicts)
	}
	if tree.Head() != base || p.git("rev-parse", testBranch) != base {
		t.Error("merging has moved the run's branch")
	}
	mustRestore(t, tree, got.Head, "")
	files := look(t, tree.Path)
	if files["a.txt"] != "-rw-r--r-- by b2\n" || files["dir/new.txt"] == "" || files["dir/b.txt"] != "" ||
		!strings.HasSuffix(files["long.txt"], long(map[int]string{2: "two", 20: "twenty"})) {
		t.Errorf("merged files: %v", files)
	}
	if again := merge(t, b, base, made, nil); again.Head != got.Head {
		t.Errorf("merged again it is %s, was %s", again.Head, got.Head)
	}
	log := p.git("log", "-1", "--format=%s|%(trailers:key=Pawl-Run,valueonly)|%P", got.Head)
	if !strings.HasPrefix(log, "join: merge branch b4|run-1") || !strings.HasSuffix(log, made[2].Commit) {
		t.Errorf("the last merge is %q", log)
	}
	if err := b.Drop(context.Background(), []string{"b2", "b3", "b4", "b9"}); err != nil {
		t.Fatal(err)
	}
	if refs := p.git("for-each-ref", "--format=%(refname)", "refs/heads/pawl", "refs/pawl"); refs != "refs/heads/"+testBranch {
		t.Errorf("refs left: %s", refs)
	}
	if list := p.git("worktree", "list"); strings.Contains(list, "run-1.b") {
		t.Errorf("worktrees left: %s", list)
	}
}

func TestConflictsAndSides(t *testing.T) {
	t.Parallel()
	_, tree, b, made := branched(t,
		map[string]string{"long.txt": long(map[int]string{5: "five by b2"}), "a.txt": ""},
		map[string]string{"long.txt": long(map[int]string{5: "five by b3", 25: "kept"}), "a.txt": "changed by b3\n"},
		map[string]string{"c.txt": "c\n"})
	got := merge(t, b, tree.Head(), made, nil)
	if got.Merged != 1 || len(got.Conflicts) != 2 || got.Marked == "" {
		t.Fatalf("merged %+v", got)
	}
	gone, lines := got.Conflicts[0], got.Conflicts[1]
	if gone.Path != "a.txt" || gone.Ours || !gone.Theirs || lines.Path != "long.txt" || !lines.Ours || !lines.Theirs {
		t.Errorf("conflicts %+v", got.Conflicts)
	}
	if !strings.Contains(lines.Text, "five by b2") || !strings.Contains(lines.Text, "five by b3") || strings.Contains(lines.Text, "kept") {
		t.Errorf("the excerpt is %q", lines.Text)
	}
	for _, c := range []struct {
		sides map[string]string
		a     string // content of a.txt
		line  string // the disputed one
	}{
		{map[string]string{"a.txt": event.Ours, "long.txt": event.Theirs}, "", "five by b3"},
		{map[string]string{"a.txt": event.Theirs, "long.txt": event.Ours}, "changed by b3\n", "five by b2"},
	} {
		done := merge(t, b, got.Head, made[1:], c.sides)
		if done.Merged != 2 || done.Conflicts != nil {
			t.Fatalf("%v: merged %+v", c.sides, done)
		}
		mustRestore(t, tree, done.Head, "")
		files := look(t, tree.Path)
		if !strings.HasSuffix(files["a.txt"], c.a) || (c.a == "") != (files["a.txt"] == "") || !strings.Contains(files["long.txt"], c.line) || strings.Contains(files["long.txt"], "<<<") || files["c.txt"] == "" {
			t.Errorf("%v: files %v", c.sides, files)
		}
	}
}

// An agent works on the marked files; what it leaves is refused while a mark is
// in it, and becomes the merge when none is.
func TestMarkedFilesAreResolved(t *testing.T) {
	t.Parallel()
	p, tree, b, made := branched(t, map[string]string{"a.txt": "by b2\n"}, map[string]string{"a.txt": "by b3\n"})
	got := merge(t, b, tree.Head(), made, nil)
	mustRestore(t, tree, got.Head, got.Marked)
	c := testCommit("mend")
	c.Merges, c.Marked = made[1].Commit, []string{"a.txt"}
	_, _, err := tree.Commit(context.Background(), c)
	var marked *runner.MarkedError
	if !errors.As(err, &marked) || !reflect.DeepEqual(marked.Files, []string{"a.txt"}) {
		t.Fatalf("committed with marks: %v", err)
	}
	put(t, tree.Path, "a.txt", "by both\n")
	head, changed, err := tree.Commit(context.Background(), c)
	if err != nil || !changed || !strings.HasSuffix(p.git("log", "-1", "--format=%P", head), " "+made[1].Commit) {
		t.Errorf("commit %s, changed %t, error %v", head, changed, err)
	}
}

// A merge driver is a program that the repository names; a conflict is what is
// left of it.
func TestMergeDriversDoNotRun(t *testing.T) {
	t.Parallel()
	p, tree, b, made := branched(t,
		map[string]string{"a.txt": "by b2\n", ".gitattributes": "*.txt merge=evil\n"}, map[string]string{"a.txt": "by b3\n"})
	ran := filepath.Join(p.home, "ran")
	p.git("config", "merge.evil.driver", "touch "+ran)
	put(t, tree.Path, ".gitattributes", "*.txt merge=evil\n")
	got := merge(t, b, tree.Head(), made, nil)
	if _, err := os.Stat(ran); err == nil {
		t.Error("the driver ran")
	}
	if len(got.Conflicts) != 1 {
		t.Errorf("merged %+v, want a conflict", got)
	}
}

// A worktree that is opened again has the files that the record says, whatever
// became of it.
func TestBranchIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	_, tree, b, made := branched(t, map[string]string{"a.txt": "first\n"})
	at, err := b.Open(context.Background(), "b2", made[0].Commit, "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, at.Path, "a.txt", "second\n")
	snap := mustSnapshot(t, at)
	put(t, at.Path, "a.txt", "torn\n")
	for _, harm := range []func(){func() {}, func() { _ = os.RemoveAll(at.Path) }} {
		harm()
		again, err := tree.Branches().Open(context.Background(), "b2", made[0].Commit, snap)
		if err != nil {
			t.Fatal(err)
		}
		if got := look(t, again.Path)["a.txt"]; !strings.HasSuffix(got, "second\n") {
			t.Errorf("a.txt is %q, want the snapshot", got)
		}
	}
	if _, err := b.Open(context.Background(), "b7", strings.Repeat("1", 40), ""); err == nil {
		t.Error("a commit that is not there was opened")
	}
}

func TestManyBranchesAtOnce(t *testing.T) {
	t.Parallel()
	_, tree, b, _ := branched(t)
	made := make([]event.MergeBranch, 6)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			name := fmt.Sprintf("b%d", i+2)
			at, err := b.Open(context.Background(), name, tree.Head(), "")
			if err != nil {
				t.Error(err)
				return
			}
			put(t, at.Path, name+".txt", name)
			head, _, err := at.Commit(context.Background(), testCommit(name))
			if err != nil {
				t.Error(err)
			}
			made[i] = event.MergeBranch{Branch: name, Commit: head}
		})
	}
	wg.Wait()
	if got := merge(t, b, tree.Head(), made, nil); got.Merged != len(made) {
		t.Errorf("merged %+v", got)
	}
}
