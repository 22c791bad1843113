package progress

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
)

// Lines writes one line for each thing that begins or ends. It may be used by
// several goroutines, except for [Lines.Begin].
type Lines struct {
	mu    sync.Mutex
	out   io.Writer
	color bool
	tools map[event.Key]string
}

// colours of progress lines.
const (
	dim    = "\x1b[2m"
	bold   = "\x1b[1m"
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// New writes to out, with ANSI colours when color is set. Errors of out are
// ignored: progress is a courtesy, the record is the truth.
func New(out io.Writer, color bool) *Lines {
	return &Lines{out: out, color: color, tools: make(map[event.Key]string)}
}

func (p *Lines) paint(code, text string) string {
	if !p.color {
		return text
	}
	return code + text + reset
}

// Begin says which run is under way, and where.
func (p *Lines) Begin(run event.RunID, branch string) {
	p.line("", p.paint(dim, "·"), "run "+string(run)+" on branch "+branch)
}

// maxNode is the length at which a node's name is cut off.
const maxNode = 40

// line writes "  node  text".
func (p *Lines) line(node, mark, text string) {
	fmt.Fprintf(p.out, "%s %s %s\n", mark, p.paint(bold, pad(words.Clip(words.OneLine(node), maxNode), 12)), Plain(text))
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-len([]rune(s)), 0)) }

// Plain keeps text from a model or a tool from moving the cursor or taking
// more than one line.
func Plain(text string) string { return words.Clip(words.OneLine(text), 160) }

// Show reports one durable event.
func (p *Lines) Show(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch b := e.Body.(type) {
	case *event.RunStopped:
		p.line("", p.paint(yellow, "■"), "stopped: "+b.Detail)
	case *event.BudgetWarned:
		p.line("", p.paint(yellow, "!"), fmt.Sprintf("budget: %s %s of %s", b.Limit, b.Used, b.Max))
	case *event.VerifyStarted:
		p.line("done", "→", "verifying with the repository's own tests")
	case *event.VerifyFinished:
		p.verdict("done", b.Evidence)
	case *event.EffectForfeited:
		p.line("", p.paint(yellow, "!"), "in doubt: "+string(b.Key)+": "+b.Detail)
	default:
		p.node(e)
	}
}

func (p *Lines) node(e event.Event) {
	switch b := e.Body.(type) {
	case *event.NodeStarted:
		text := "started"
		if b.Visit > 1 {
			text = fmt.Sprintf("started, visit %d", b.Visit)
		}
		p.line(e.Node, "→", text)
	case *event.NodeFinished:
		p.decided(e.Node, b)
	case *event.NodeRetried:
		p.line(e.Node, p.paint(yellow, "!"), "begins again: "+b.Detail)
	case *event.NodeFailed:
		p.line(e.Node, p.paint(red, "✗"), b.Detail)
	case *event.BranchFailed:
		p.line(e.Node, p.paint(red, "✗"), "this branch has failed: "+b.Detail)
	case *event.MergeFinished:
		p.merge(e.Node, b)
	case *event.CommandStarted:
		p.line(e.Node, p.paint(dim, "·"), b.Command)
	case *event.CommandFinished:
		p.command(e.Node, b)
	case *event.GateOpened:
		p.line(e.Node, p.paint(yellow, "?"), "asks a person"+questionText(b.Question))
	case *event.GateAnswered:
		p.line(e.Node, p.paint(green, "✓"), fmt.Sprintf("answered by %s (%s): %s", b.By, b.Via, b.Output))
	default:
		p.call(e)
	}
}

// questionText is what a person is asked, after a colon.
func questionText(payload event.Payload) string {
	var q gates.Question
	if json.Unmarshal(payload.Raw(), &q) != nil || q.Text == "" {
		return ""
	}
	return ": " + q.Text
}

// decided shows what a model decided in the place of an edge or a person.
func (p *Lines) decided(node string, b *event.NodeFinished) {
	if b.Reason != "" {
		p.line(node, p.paint(green, "✓"), "chosen: "+b.Reason)
	}
	if b.By != "" {
		p.line(node, p.paint(green, "✓"), "answered by model "+b.By)
	}
}

func (p *Lines) merge(node string, b *event.MergeFinished) {
	if b.Merged > 0 {
		p.line(node, p.paint(green, "✓"), fmt.Sprintf("branches merged: %d", b.Merged))
	}
	for _, c := range b.Conflicts {
		p.line(node, p.paint(yellow, "!"), "conflict in "+c.Path)
	}
}

func (p *Lines) call(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ModelCallStarted:
		if b.Question != "" {
			p.line(e.Node, p.paint(yellow, "?"), "asks model "+b.Model+": "+b.Question)
		}
	case *event.ModelCallFinished:
		tokens := fmt.Sprintf("%s: %d tokens in, %d out", b.Model, b.Usage.Input, b.Usage.Output)
		if b.Problem != "" {
			tokens += "; answer not usable: " + b.Problem
		}
		p.line(e.Node, p.paint(dim, "·"), tokens)
	case *event.ModelCallFailed:
		p.line(e.Node, p.paint(yellow, "!"), b.Detail)
	case *event.ToolCallStarted:
		p.tools[b.Key] = b.Name
	case *event.ToolCallFinished:
		text := cmp.Or(b.Summary, p.tools[b.Key])
		delete(p.tools, b.Key)
		mark := p.paint(dim, "·")
		if b.Error {
			mark = p.paint(yellow, "!")
		}
		p.line(e.Node, mark, text)
	}
}

func (p *Lines) command(node string, b *event.CommandFinished) {
	switch {
	case b.Evidence != nil:
		p.verdict(node, *b.Evidence)
	case b.Problem != "":
		p.line(node, p.paint(red, "✗"), b.Problem)
	default:
		p.line(node, p.paint(dim, "·"), fmt.Sprintf("exit status %d after %d ms", b.Exit, b.Millis))
	}
}

func (p *Lines) verdict(node string, ev event.Evidence) {
	mark, text := p.paint(green, "✓"), "the tests pass"
	if !ev.Passed {
		mark, text = p.paint(red, "✗"), ev.Reason
	}
	for _, c := range ev.Commands {
		text += fmt.Sprintf(" [%s]", c.Command)
	}
	p.line(node, mark, text)
}
