package workspace

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// Many runs of one process, and of two, make and give back worktrees at once.
func TestManyWorktreesAtOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many gits")
	}
	p := withCommit(t)
	repos := []*Repo{p.open(), p.open()} // as two processes would have
	place := t.TempDir()
	var crowd sync.WaitGroup
	for i := range 24 {
		crowd.Go(func() {
			r := repos[i%2]
			tree, err := r.Start(t.Context(), fmt.Sprintf("pawl/w/run-%d", i), filepath.Join(place, fmt.Sprint(i)), "")
			if err != nil {
				t.Errorf("start %d: %v", i, err)
				return
			}
			if err := r.Remove(t.Context(), tree.Path); err != nil {
				t.Errorf("remove %d: %v", i, err)
			}
			if err := r.Wait(t.Context()); err != nil {
				t.Errorf("wait %d: %v", i, err)
			}
		})
	}
	crowd.Wait()
}
