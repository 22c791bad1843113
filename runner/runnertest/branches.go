package runnertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
)

type branches port

// Open implements runner.Branches.
func (b *branches) Open(_ context.Context, tree machine.Tree) (runner.Place, error) {
	p := &port{World: b.World, of: b.of, tree: tree.Name}
	err := p.operation(func() error { return p.put(tree.Head, tree.Snapshot) }, "open "+tree.Name)
	return runner.Place{Workspace: (*workspace)(p), Tools: (*tools)(p), Shell: (*shell)(p), Verifier: (*verifier)(p)}, err
}

// mark stands in a file that holds both sides of a conflict.
const mark = "<<<<<<<"

// Merge implements runner.Branches: files are whole, so two changes of one file
// are a conflict.
func (b *branches) Merge(_ context.Context, r runner.MergeRequest) (runner.MergeResult, error) {
	var out runner.MergeResult
	err := (*port)(b).operation(func() error {
		out.Head = r.Ours
		for i, branch := range r.Branches {
			sides := r.Sides
			if i > 0 {
				sides = nil
			}
			files, conflicts := threeWay(b.commit(r.Base), b.commit(out.Head), b.commit(branch.Commit), sides)
			if files == nil {
				return fmt.Errorf("merge %s: no such commit", branch.Commit)
			}
			if len(conflicts) > 0 {
				out.Conflicts, out.Marked = conflicts, b.keep(files)
				return nil
			}
			out.Head = b.keep(files)
			out.Merged++
		}
		return nil
	}, "merge")
	return out, err
}

func threeWay(base, ours, theirs map[string]string, sides map[string]string) (map[string]string, []event.Conflict) {
	if base == nil || ours == nil || theirs == nil {
		return nil, nil
	}
	paths := maps.Clone(base)
	maps.Copy(paths, ours)
	maps.Copy(paths, theirs)
	files := make(map[string]string)
	var conflicts []event.Conflict
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, wasThere := base[path]
		we, weHave := ours[path]
		they, theyHave := theirs[path]
		content, there := we, weHave
		switch changed := they != was || theyHave != wasThere; {
		case !changed, we == they && weHave == theyHave:
		case we == was && weHave == wasThere, sides[path] == event.Theirs:
			content, there = they, theyHave
		case sides[path] == event.Ours:
		default:
			conflicts = append(conflicts, event.Conflict{Path: path, Ours: weHave, Theirs: theyHave, Text: we + " or " + they})
			content, there = strings.Join([]string{mark, we, "=======", they, ">>>>>>>"}, "\n"), true
		}
		if there {
			files[path] = content
		}
	}
	return files, conflicts
}

// Drop implements runner.Branches.
func (b *branches) Drop(_ context.Context, names []string) error {
	var points []string
	for _, name := range names {
		points = append(points, "drop "+name)
	}
	return (*port)(b).operation(func() error {
		for _, name := range names {
			delete(b.places, name)
		}
		return nil
	}, points...)
}
