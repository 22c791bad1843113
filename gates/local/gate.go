package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/pawl-ci/pawl/gates"
)

// Gate asks people on this machine. Answers come first; what they leave open is
// asked at the terminal, when there is one. Otherwise there is no answer, and
// the run parks.
type Gate struct {
	Answers *Answers        // may be nil
	Only    map[string]bool // gates that Answers may answer; nil means all
	In      io.Reader       // a person's terminal, or nil
	Out     io.Writer
	By      string // name of the local person

	lines *bufio.Reader
}

// Ask implements the engine's gate.
func (g *Gate) Ask(ctx context.Context, q gates.Question) (*gates.Answer, string, error) {
	if g.Answers != nil && (g.Only == nil || g.Only[string(q.Gate)]) {
		// Half an answer is no silence: without a terminal to ask for the rest,
		// whoever checks it says what is missing.
		values, complete := g.Answers.For(q)
		if complete || g.In == nil && len(values) > 0 {
			return &gates.Answer{Values: values, By: g.By, Via: "--answer"}, "", nil
		}
	}
	if g.In == nil {
		return nil, "", nil
	}
	return g.prompt(ctx, q)
}

// prompt asks field by field. The end of input, or a cancelled ctx, leaves the
// question open.
func (g *Gate) prompt(ctx context.Context, q gates.Question) (*gates.Answer, string, error) {
	if g.lines == nil {
		g.lines = bufio.NewReader(g.In)
	}
	fmt.Fprintf(g.Out, "\n%s asks:\n%s", q.Node, indent(q.Text))
	if q.Branch != "" {
		fmt.Fprintf(g.Out, "  The work: git log -p %s\n", q.Branch)
	}
	if text := pretty(q.Input); text != "" {
		fmt.Fprintf(g.Out, "  What came in:\n%s", indent(text))
	}
	values := g.given(q)
	for _, f := range q.Fields {
		if values[f.Name] != nil {
			continue
		}
		raw, ok, err := g.field(ctx, f)
		if err != nil || !ok {
			return nil, "", err
		}
		if raw != nil {
			values[f.Name] = raw
		}
	}
	return &gates.Answer{Values: values, By: g.By, Via: "terminal"}, "", nil
}

// given is the part of the answer that was given beforehand.
func (g *Gate) given(q gates.Question) map[string]json.RawMessage {
	if g.Answers == nil || g.Only != nil && !g.Only[string(q.Gate)] {
		return make(map[string]json.RawMessage)
	}
	values, _ := g.Answers.For(q)
	return values
}

// field asks until the text fits. ok is false when there is no more input.
func (g *Gate) field(ctx context.Context, f gates.Field) (raw json.RawMessage, ok bool, err error) {
	for {
		fmt.Fprintf(g.Out, "  %s (%s): ", f.Name, describe(f))
		line, err := g.read(ctx)
		if err != nil {
			fmt.Fprintln(g.Out)
			return nil, false, nil
		}
		text := strings.TrimSpace(line)
		if text == "" && f.Optional {
			return nil, true, nil
		}
		if raw := Value(f, text); text != "" && fits(f, raw) {
			return raw, true, nil
		}
		fmt.Fprintf(g.Out, "  please answer with %s\n", describe(f))
	}
}

// read waits for a line or for ctx, whichever comes first.
func (g *Gate) read(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := g.lines.ReadString('\n')
		if line != "" {
			err = nil
		}
		done <- read{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func describe(f gates.Field) string {
	text := map[gates.Kind]string{
		gates.Bool: "yes or no", gates.Int: "a whole number", gates.Float: "a number",
		gates.JSON: "JSON", gates.Strings: "a list, separated by commas", gates.String: "text",
	}[f.Kind]
	if len(f.Enum) > 0 {
		text = "one of " + strings.Join(f.Enum, ", ")
	}
	if f.Optional {
		text += "; empty to leave out"
	}
	return text
}

// fits is the check at the prompt; the engine checks every answer again.
func fits(f gates.Field, raw json.RawMessage) bool {
	first := raw[0]
	switch f.Kind {
	case gates.Bool:
		return first == 't' || first == 'f'
	case gates.Int:
		return !bytes.ContainsAny(raw, `".[{eE`) && first != 't' && first != 'f' && first != 'n'
	case gates.Float:
		return first == '-' || first >= '0' && first <= '9'
	case gates.Strings:
		return first == '['
	case gates.String:
		return len(f.Enum) == 0 || contains(f.Enum, raw)
	}
	return true
}

func contains(enum []string, raw json.RawMessage) bool {
	for _, e := range enum {
		if string(encode(e)) == string(raw) {
			return true
		}
	}
	return false
}

func indent(text string) string {
	text = strings.TrimRight(strings.Map(visible, text), "\n")
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
}

// visible drops what would move the cursor or change colours: the text may come
// from a model.
func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// pretty shows what flowed into the gate: plain texts as they are.
func pretty(raw json.RawMessage) string {
	var object map[string]any
	if json.Unmarshal(raw, &object) != nil || len(object) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return ""
	}
	return b.String()
}
