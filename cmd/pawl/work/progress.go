package work

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

// progress writes one line for each thing that begins or ends, so that long work
// can be followed on a terminal and in a CI log alike.
type progress struct {
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

func newProgress(out io.Writer, color bool) *progress {
	return &progress{out: out, color: color, tools: make(map[event.Key]string)}
}

func (p *progress) paint(code, text string) string {
	if !p.color {
		return text
	}
	return code + text + reset
}

// line writes "  node  text".
func (p *progress) line(node, mark, text string) {
	fmt.Fprintf(p.out, "%s %s %s\n", mark, p.paint(bold, pad(node, 12)), plainLine(text))
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-len([]rune(s)), 0)) }

// plainLine keeps text from a model or a tool from moving the cursor or taking
// more than one line.
func plainLine(text string) string { return words.Clip(words.OneLine(text), 160) }

// show reports one durable event.
func (p *progress) show(e event.Event) {
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

func (p *progress) node(e event.Event) {
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
func (p *progress) decided(node string, b *event.NodeFinished) {
	if b.Reason != "" {
		p.line(node, p.paint(green, "✓"), "chosen: "+b.Reason)
	}
	if b.By != "" {
		p.line(node, p.paint(green, "✓"), "answered by model "+b.By)
	}
}

func (p *progress) call(e event.Event) {
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

func (p *progress) command(node string, b *event.CommandFinished) {
	switch {
	case b.Evidence != nil:
		p.verdict(node, *b.Evidence)
	case b.Problem != "":
		p.line(node, p.paint(red, "✗"), b.Problem)
	default:
		p.line(node, p.paint(dim, "·"), fmt.Sprintf("exit status %d after %d ms", b.Exit, b.Millis))
	}
}

func (p *progress) verdict(node string, ev event.Evidence) {
	mark, text := p.paint(green, "✓"), "the tests pass"
	if !ev.Passed {
		mark, text = p.paint(red, "✗"), ev.Reason
	}
	for _, c := range ev.Commands {
		text += fmt.Sprintf(" [%s]", c.Command)
	}
	p.line(node, mark, text)
}
