package runnertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
)

// ErrCrash is what every port returns once the world has crashed: the process is
// taken to be dead, and nothing it does any more counts.
var ErrCrash = errors.New("runnertest: the process has crashed")

// ErrFault is an injected failure of one operation.
var ErrFault = errors.New("runnertest: injected failure")

// Fault is what happens at one operation.
type Fault int

// The faults. "Persisted" means that the operation took effect although its
// caller is told otherwise.
const (
	None Fault = iota
	Fails
	FailsPersisted
	CrashBefore
	CrashAfter
)

// Faults lists every fault that can be injected.
var Faults = []Fault{Fails, FailsPersisted, CrashBefore, CrashAfter}

// String names the fault in test output.
func (f Fault) String() string {
	return [...]string{"none", "fails", "fails but persisted", "crash before", "crash after"}[f]
}

// World is an outside world in memory. What it holds survives a crash; the same
// World is used again for the resume. Its methods may be called concurrently.
type World struct {
	// Answer is the model. It must depend on nothing but the request.
	Answer func(req *runner.ModelRequest) (*runner.ModelResponse, error)
	// Command is the shell; it may read and change files.
	Command func(files map[string]string, line string) runner.ShellResult
	// Person answers gates; nil never answers.
	Person func(q gates.Question) *gates.Answer
	// Passes judges the files when the tests run; nil always passes.
	Passes func(files map[string]string) bool

	mu      sync.Mutex
	events  []event.Event
	blobs   map[event.Digest][]byte
	places  map[string]*place // worktrees by name; "" is the run's own
	trees   []map[string]string
	now     time.Time
	crashed bool
	process int // what an earlier one still does, does not count
	op      int
	at      int
	point   string
	points  []string
	times   map[string]int // how often each has happened
	fired   bool
	fault   Fault

	calls    map[string]int // by conversation position: how often the model was asked
	answered map[string]int // … and how often its answer reached pawl
	asked    map[gates.ID]int
}

// NewWorld returns a world whose repository holds files.
func NewWorld(files map[string]string) *World {
	w := &World{
		blobs: make(map[event.Digest][]byte), places: map[string]*place{"": {files: maps.Clone(files)}},
		now:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		times: make(map[string]int), calls: make(map[string]int), answered: make(map[string]int), asked: make(map[gates.ID]int),
	}
	root := w.places[""]
	if root.files == nil {
		root.files = make(map[string]string)
	}
	root.head = w.keep(root.files)
	return w
}

// Ports connects an engine to the world.
func (w *World) Ports() runner.Ports {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &port{World: w, of: w.process}
	return runner.Ports{
		Model: (*model)(p), Tools: (*tools)(p), Shell: (*shell)(p), Workspace: (*workspace)(p), Branches: (*branches)(p),
		Verifier: (*verifier)(p), Gate: (*gate)(p), Log: (*log)(p), Blobs: (*blobs)(p), Clock: (*clock)(w),
	}
}

// port is the world as one process sees it, from one worktree.
type port struct {
	*World
	of   int // the process
	tree string
}

// place is one worktree.
type place struct {
	files map[string]string
	head  string
}

// Inject makes the n-th operation from now (counting from 1) end in fault.
func (w *World) Inject(n int, fault Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.op, w.at, w.fault = 0, n, fault
}

// InjectAt makes the operation of that name, of those that [World.Points] lists,
// end in fault.
func (w *World) InjectAt(point string, fault Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.point, w.fault = point, fault
}

// Fired reports whether an injected fault has happened.
func (w *World) Fired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

// Points names everything that happened so far and could have failed: every
// operation by what it does and where, every append by each of its events. The
// names do not depend on which of several branches is faster.
func (w *World) Points() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.points)
}

// Restart begins a new process in the same world, without faults.
func (w *World) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crashed, w.op, w.at, w.point, w.fault = false, 0, 0, "", None
	w.process++
	w.now = w.now.Add(time.Hour)
}

// Advance lets time pass. It is called from within an operation: the model is
// slow.
func (w *World) Advance(d time.Duration) { w.now = w.now.Add(d) }

// Operations is how many operations the present process has made.
func (w *World) Operations() int { return w.op }

// Events is the record so far.
func (w *World) Events() []event.Event { return append([]event.Event(nil), w.events...) }

// Files is the content of the branch's head.
func (w *World) Files() map[string]string { return w.commit(w.Head()) }

// Head is the last commit of the branch.
func (w *World) Head() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.places[""].head
}

// Worktrees names the worktrees of branches that are there, sorted.
func (w *World) Worktrees() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.places)), func(name string) bool { return name == "" })
}

// Repeated lists the model calls that were made again although their answer had
// been recorded.
func (w *World) Repeated() []string {
	var out []string
	for key, n := range w.answered {
		if n > 1 {
			out = append(out, key)
		}
	}
	return out
}

// Calls is how many requests reached the model.
func (w *World) Calls() int {
	n := 0
	for _, c := range w.calls {
		n += c
	}
	return n
}

// operation runs do under the world's rules: it may fail, or crash the process
// before or after taking effect. names are what the operation is, as points.
func (p *port) operation(do func() error, names ...string) error {
	w := p.World
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crashed || p.of != w.process {
		return ErrCrash
	}
	switch w.hit(names) {
	case Fails:
		return ErrFault
	case FailsPersisted:
		_ = do()
		return ErrFault
	case CrashBefore:
		w.crashed = true
		return ErrCrash
	case CrashAfter:
		_ = do()
		w.crashed = true
		return ErrCrash
	}
	return do()
}

// hit counts an operation and returns the fault that it ends in.
func (w *World) hit(names []string) Fault {
	w.op++
	here := w.op == w.at
	for _, name := range names {
		w.times[name]++
		name = fmt.Sprintf("%s %d", name, w.times[name])
		w.points = append(w.points, name)
		here = here || name == w.point
	}
	if !here || w.fault == None {
		return None
	}
	w.fired = true
	return w.fault
}

func (w *World) keep(files map[string]string) string {
	w.trees = append(w.trees, maps.Clone(files))
	return fmt.Sprintf("c%04d", len(w.trees))
}

func (w *World) commit(id string) map[string]string {
	var n int
	if _, err := fmt.Sscanf(id, "c%d", &n); err != nil || n < 1 || n > len(w.trees) {
		return nil
	}
	return w.trees[n-1]
}

// Price is a price table in which every model costs a dollar per million tokens.
func Price() budget.Table {
	t, err := budget.NewTable(budget.Entry{Match: "*", Price: budget.Price{Input: budget.Dollar, Output: budget.Dollar}})
	if err != nil {
		panic(err)
	}
	return t
}

// JSON makes a structured answer of the scripted model.
func JSON(v any) *runner.ModelResponse {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return Text(string(raw))
}

// Text makes a plain answer of the scripted model.
func Text(s string) *runner.ModelResponse {
	return &runner.ModelResponse{
		Model: "scripted", Text: s, Finish: "stop", UsageKnown: true,
		Usage: budget.Usage{Input: 100, Output: 10},
	}
}

// Use makes an answer that asks for one tool.
func Use(id, name, args string) *runner.ModelResponse {
	r := Text("")
	r.Finish = "tool_calls"
	r.ToolCalls = []runner.ToolCall{{ID: id, Name: name, Args: args}}
	return r
}

type clock World

// Now implements runner.Clock: every look costs a millisecond.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

type log port

// Append implements runner.Log.
func (l *log) Append(_ context.Context, events []event.Event) error {
	w := l.World
	var names []string
	for _, e := range events {
		names = append(names, fmt.Sprintf("append %s of %s by token %d", e.Body.EventType(), e.Node, e.Token))
	}
	return (*port)(l).operation(func() error {
		for _, e := range events {
			if want := event.Seq(len(w.events) + 1); e.Seq != want {
				return fmt.Errorf("append event %d: %d was expected", e.Seq, want)
			}
			w.events = append(w.events, e)
		}
		return nil
	}, names...)
}

type blobs port

// Put implements runner.Blobs.
func (b *blobs) Put(d event.Digest, content []byte) error {
	return (*port)(b).operation(func() error { b.blobs[d] = append([]byte(nil), content...); return nil }, "put blob")
}

// Get implements runner.Blobs.
func (b *blobs) Get(d event.Digest) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.blobs[d]
	if !ok {
		return nil, fmt.Errorf("there is no blob %s", d)
	}
	return content, nil
}
