package workspace

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PAWL_TEST_CRASH"); dir != "" {
		if err := crashWriter(dir, os.Getenv("PAWL_TEST_HEAD")); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	// A step of the property tests starts a dozen processes. The command line,
	// which is read later, can still ask for more.
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// crashWriter goes on with the run for ever and says, like a record, what is done.
func crashWriter(dir, head string) error {
	ctx := context.Background()
	r, err := Open(ctx, dir, Options{Env: os.Environ()})
	if err != nil {
		return err
	}
	tree, err := r.Attach(ctx, testBranch, filepath.Join(filepath.Dir(dir), "trees", "run-1"), head)
	if err != nil {
		return err
	}
	if err := tree.Restore(ctx, head, ""); err != nil {
		return err
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		for f := range 5 {
			name := filepath.Join(tree.Path, fmt.Sprintf("f%d", f))
			if err := os.WriteFile(name, []byte(fmt.Sprintln(head, i)), 0o644); err != nil {
				return err
			}
		}
		snap, err := tree.Snapshot(ctx)
		if err != nil {
			return err
		}
		id, _, err := tree.Commit(ctx, testCommit("step"))
		if err != nil {
			return err
		}
		fmt.Println("commit", id)
		if err := tree.Restore(ctx, id, snap); err != nil {
			return err
		}
	}
}

// A process killed at any moment leaves a repository that the next one takes up
// at what was recorded, without a person clearing locks away.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills a dozen processes")
	}
	p := withCommit(t)
	tree := p.start()
	head, steps := tree.Head(), 0
	for i := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(p.env, "PAWL_TEST_CRASH="+p.dir, "PAWL_TEST_HEAD="+head)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			kind, value, _ := strings.Cut(lines.Text(), " ")
			switch kind {
			case "ready": // the moment of the kill differs from round to round
				time.AfterFunc(time.Duration(1+i*7)*time.Millisecond, func() { _ = cmd.Process.Kill() })
			case "commit":
				head = value
				steps++
			case "error":
				t.Fatalf("round %d: %s", i, value)
			}
		}
		_ = cmd.Wait()
	}
	again, err := p.attach(head)
	if err != nil {
		t.Fatal(err)
	}
	mustRestore(t, again, head, "")
	if got := p.git("rev-list", "--count", "main.."+testBranch); got != fmt.Sprint(steps) {
		t.Errorf("%s commits on the branch, %d recorded", got, steps)
	}
	if out, err := p.tryGit(p.dir, "fsck", "--strict"); err != nil {
		t.Errorf("fsck: %s", out)
	}
	if got := p.gitIn(again.Path, "status", "--porcelain"); got != "" {
		t.Errorf("status: %s", got)
	}
}
