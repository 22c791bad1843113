package runner

import (
	"context"
	"sync"

	"github.com/pawl-ci/pawl/runner/machine"
)

// places are the worktrees in which this attempt has begun to work. A branch's
// own one is opened by the first effect that needs it.
type places struct {
	mu   sync.Mutex
	open map[string]*opening
}

// opening is a place that is being opened, or is open.
type opening struct {
	mu    sync.Mutex
	ready bool
	place Place
}

// at returns what opens the place of a tree, for an effect that begins later.
func (e *engine) at(tree machine.Tree) func(context.Context) (Place, error) {
	if tree.Name == "" || e.Branches == nil {
		root := Place{Workspace: e.Workspace, Tools: e.Tools, Shell: e.Shell, Verifier: e.Verifier, Backend: e.Backend}
		return func(context.Context) (Place, error) { return root, nil }
	}
	o := e.places.of(tree.Name)
	return func(ctx context.Context) (Place, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.ready {
			return o.place, nil
		}
		place, err := e.Branches.Open(ctx, tree)
		o.place, o.ready = place, err == nil
		return place, err
	}
}

func (p *places) of(name string) *opening {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.open[name]
	if o == nil {
		o = &opening{}
		if p.open == nil {
			p.open = make(map[string]*opening)
		}
		p.open[name] = o
	}
	return o
}

// isOpen reports whether somebody has worked in the tree in this attempt: its
// files must then follow where it moves.
func (p *places) isOpen(name string) bool {
	if name == "" {
		return true
	}
	o := p.of(name)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ready
}

// tidy gives back the trees that are needed no more, beside the work. What could
// not be given back stays behind; nothing depends on it.
func (e *engine) tidy(ctx context.Context) {
	names := e.state.Dropped()[e.tidied:]
	if len(names) == 0 || e.Branches == nil {
		return
	}
	e.tidied += len(names)
	e.chores.Go(func() { _ = e.Branches.Drop(context.WithoutCancel(ctx), names) })
}
