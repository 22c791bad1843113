package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
	"github.com/pawl-ci/pawl/runner/machine"
)

// Ports is everything the engine needs from the world. Workspace may be nil for
// a workflow with `worktree: none`; the others must be set.
type Ports struct {
	Model     Model
	Tools     Tools
	Shell     Shell
	Workspace Workspace
	Branches  Branches // may be nil with Workspace
	Verifier  Verifier
	Backend   Model // agent CLIs, see Place; may be nil
	Gate      Gate
	Log       Log
	Blobs     Blobs
	Clock     Clock
}

// Options are the engine's settings.
type Options struct {
	Prices   budget.Table
	Redact   func(string) string // applied to all text before it is recorded; nil changes nothing
	Progress func(event.Event)   // called with every event once it is durable; may be nil

	// MaxConversation bounds the messages of one request in bytes; older results
	// of tools are left out above it, with a note. 0 means about 130,000 tokens.
	MaxConversation int
}

// AnswerError says that an answer given to a gate does not fit the question. The
// gate stays open and the run stays parked.
type AnswerError struct {
	Gate    string
	Problem string
}

// Error implements error.
func (e *AnswerError) Error() string { return fmt.Sprintf("answer to %s: %s", e.Gate, e.Problem) }

// Run works on a run until it is parked, stopped or finished, which
// state.Status then says. first is the event that opens this attempt: RunStarted
// for a new state, RunResumed for a folded one.
//
// An error means that the record or the host failed, or is an *[AnswerError];
// what was appended stays valid and the run can be resumed. Cancelling ctx stops
// the run in order: running effects are ended and the record says so.
func Run(ctx context.Context, state *machine.State, first event.Body, run event.RunID, ports Ports, opts Options) error {
	if opts.Redact == nil {
		opts.Redact = func(s string) string { return s }
	}
	e := &engine{
		Ports: ports, opts: opts, state: state, run: run,
		flying:  make(map[event.TokenID]bool),
		results: newMailbox(),
		talks:   make(map[event.TokenID]*talk),
	}
	if err := e.open(ctx, first); err != nil {
		return err
	}
	work, cancel := e.deadline(ctx)
	defer cancel()
	defer e.chores.Wait()
	err := e.loop(ctx, work)
	if err == nil && e.badAnswer != nil {
		return e.badAnswer
	}
	return err
}

// engine is one attempt at a run. Only its goroutine touches state and queue;
// effects run in goroutines of their own and answer through results.
type engine struct {
	Ports
	opts      Options
	state     *machine.State
	run       event.RunID
	queue     []event.Event // applied, not yet durable
	starts    []start       // effects whose events are in queue
	flying    map[event.TokenID]bool
	results   *mailbox
	talks     map[event.TokenID]*talk
	lastAsked chan struct{} // closed when the last question of the line has been asked
	badAnswer *AnswerError
	places    places
	tidied    int // trees of state.Dropped that were given back
	chores    sync.WaitGroup
}

// start is an effect that may begin once the queue is durable.
type start struct {
	token *machine.Token
	node  *ir.Node
	do    func(ctx context.Context) ([]event.Body, error)
}

// result is how an effect ended. err means that the host failed.
type result struct {
	token  event.TokenID
	node   string
	bodies []event.Body
	err    error
}

// open records the attempt's first event and settles what is in doubt.
func (e *engine) open(ctx context.Context, first event.Body) error {
	if err := e.record(0, "", first); err != nil {
		return err
	}
	if _, resumed := first.(*event.RunResumed); !resumed {
		return e.flush(ctx)
	}
	for _, key := range e.state.InDoubt() {
		body := &event.EffectForfeited{Key: key, Detail: "the outcome is unknown: pawl ended before it was recorded"}
		body.Charged = e.state.Purse.Held(string(key))
		if err := e.record(0, "", body); err != nil {
			return err
		}
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	if e.Workspace == nil {
		return nil
	}
	if err := e.Workspace.Restore(ctx, e.state.Head, e.state.Snapshot); err != nil {
		return fmt.Errorf("put the worktree back to where the record stands: %w", err)
	}
	return nil
}

// deadline bounds effects by what is left of max_duration.
func (e *engine) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if left, limited := e.state.Purse.TimeLeft(); limited {
		return context.WithTimeoutCause(ctx, max(left, 0), errDuration)
	}
	return context.WithCancel(ctx)
}

var errDuration = errors.New("max_duration is used up")

// loop alternates between deciding and waiting. One turn makes everything that
// was decided durable with one append, however many events that is.
func (e *engine) loop(ctx, work context.Context) error {
	for {
		if err := e.decide(work); err != nil {
			return err
		}
		// The record must be written even when the run is being cancelled.
		if err := e.flush(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		e.tidy(ctx)
		e.launch(work)
		if len(e.flying) == 0 {
			return nil
		}
		if err := e.await(); err != nil {
			return err
		}
	}
}

// decide asks the machine until only effects are left to do.
func (e *engine) decide(work context.Context) error {
	for {
		if err := e.interrupted(work); err != nil {
			return err
		}
		handled := false
		for c := range e.state.Steps() {
			did, err := e.handle(c)
			if err != nil {
				return err
			}
			handled = handled || did
		}
		if !handled {
			return nil
		}
	}
}

// interrupted records that the run stops because it was cancelled or its time is
// used up.
func (e *engine) interrupted(work context.Context) error {
	if work.Err() == nil || e.state.Status != machine.Running {
		return nil
	}
	stop := &event.RunStopped{Reason: event.StopCancelled, Detail: "the run was cancelled", Hint: "continue with: pawl resume " + string(e.run)}
	if errors.Is(context.Cause(work), errDuration) {
		stop = &event.RunStopped{
			Reason: event.StopBudget, Limit: "max_duration",
			Detail: fmt.Sprintf("max_duration: %s of running time are used up", e.state.Purse.Limits.MaxDuration),
			Hint:   "go on with a higher limit: pawl resume --max-duration …",
		}
	}
	return e.record(0, "", stop)
}

// handle performs a decision or prepares an effect; it reports whether anything
// changed.
func (e *engine) handle(c machine.Command) (bool, error) {
	if r, ok := c.(machine.Record); ok {
		return true, e.record(r.Token, r.Node, r.Body)
	}
	if f, ok := c.(machine.Finish); ok && (!f.Commit || e.Workspace == nil) {
		// Nothing to commit: closing the visit is a decision, not an effect.
		return true, e.record(f.Token.ID, f.Node.ID, f.Done)
	}
	s, started, err := e.prepare(c)
	if err != nil || s == nil && started == nil {
		return false, err
	}
	if s != nil {
		e.starts = append(e.starts, *s)
		e.flying[s.token.ID] = true
	}
	if started == nil {
		return true, nil
	}
	effect := effectOf(c)
	return true, e.record(effect.Token.ID, effect.Node.ID, started)
}

// record applies an event and queues it for the log.
func (e *engine) record(token event.TokenID, node string, body event.Body) error {
	ev := event.Event{
		Seq: e.state.Seq + 1, Time: e.Clock.Now().UTC().Truncate(time.Microsecond),
		Run: e.run, Token: token, Node: node, Body: body,
	}
	if err := ev.Store(e.Blobs.Put); err != nil {
		return err
	}
	if err := e.state.Apply(ev); err != nil {
		return err
	}
	e.queue = append(e.queue, ev)
	return nil
}

// flush makes the queue durable.
func (e *engine) flush(ctx context.Context) error {
	if len(e.queue) == 0 {
		return nil
	}
	batch := e.queue
	e.queue = nil
	if err := e.Log.Append(ctx, batch); err != nil {
		return err
	}
	if e.opts.Progress != nil {
		for _, ev := range batch {
			e.opts.Progress(ev)
		}
	}
	return nil
}

// launch begins the prepared effects. Their events are durable: each of them has
// to be carried out, or its outcome would stay in doubt.
func (e *engine) launch(work context.Context) {
	for _, s := range e.starts {
		go func() {
			bodies, err := s.do(work)
			e.results.put(result{s.token.ID, s.node.ID, bodies, err})
		}()
	}
	e.starts = e.starts[:0]
}

// await waits for a result, and takes all that are there.
func (e *engine) await() error {
	for _, r := range e.results.take() {
		if err := e.take(r); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) take(r result) error {
	delete(e.flying, r.token)
	for _, body := range r.bodies {
		if err := e.record(r.token, r.node, body); err != nil {
			return err
		}
	}
	if errors.As(r.err, &e.badAnswer) {
		return nil // the gate stays open, the run parks, and Run reports it
	}
	if r.err == nil || e.state.Status != machine.Running {
		return nil
	}
	stop := &event.RunStopped{Reason: event.StopHost, Detail: e.opts.Redact(fmt.Sprintf("%s: %s", r.node, r.err))}
	return e.record(0, "", stop)
}
