package script

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-ci/pawl/budget"
	"github.com/pawl-ci/pawl/runner/host/model/script/source"
)

// maxSize bounds a script in bytes.
const maxSize = 16 << 20

// Error is one thing that is wrong in a script, and where.
type Error = source.Error

// Parse reads a script. name is the file's name: it is shown in errors, and one
// that ends in .jsonl or .ndjson holds an exchange a line; everything else is
// YAML. The error joins one *[Error] for each thing that is wrong, in the order
// of the file: unknown keys, values of the wrong kind, exchanges that can never
// match because an earlier one takes all their requests.
func Parse(name string, data []byte) (*Script, error) {
	if len(data) > maxSize {
		return nil, fmt.Errorf("%s: the script is longer than %d MiB", name, maxSize>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	root, err := read(name, data)
	if err != nil {
		return nil, err
	}
	d := decoder{file: name}
	s := d.script(root)
	if len(d.errs) == 0 {
		d.shadows(s)
	}
	if len(d.errs) > 0 {
		return nil, d.sorted()
	}
	return s, nil
}

func read(name string, data []byte) (*source.Value, error) {
	if strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		return source.ReadLines(name, data, "exchanges", "reply", "replies")
	}
	return source.ReadYAML(name, data)
}

// decoder turns the tree into a script and collects what is wrong with it.
type decoder struct {
	file string
	errs []*Error
}

// sorted joins what is wrong in the order of the file.
func (d *decoder) sorted() error {
	slices.SortStableFunc(d.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	all := make([]error, len(d.errs))
	for i, err := range d.errs {
		all[i] = err
	}
	return errors.Join(all...)
}

func (d *decoder) fail(at source.Place, format string, args ...any) {
	d.errs = append(d.errs, &Error{File: d.file, Place: at, Message: fmt.Sprintf(format, args...)})
}

// keys maps the keys an object may have to what reads them.
type keys map[string]func(*source.Value)

// object reads v by known, which is the closed set of its keys.
func (d *decoder) object(v *source.Value, what string, known keys) bool {
	if v.Kind != source.Object {
		d.fail(v.At, "%s: want a mapping, this is %s", what, v.Kind)
		return false
	}
	for _, f := range v.Fields {
		if read, ok := known[f.Name]; ok {
			read(f.Value)
			continue
		}
		names := make([]string, 0, len(known))
		for name := range known {
			names = append(names, name)
		}
		slices.Sort(names)
		d.fail(f.At, "%s: unknown key %q; known are %s", what, f.Name, strings.Join(names, ", "))
	}
	return true
}

func (d *decoder) script(root *source.Value) *Script {
	s := &Script{Name: "script"}
	known := keys{
		"name":      d.text("name", &s.Name),
		"model":     d.text("model", &s.Model),
		"price":     func(v *source.Value) { s.Price = d.price(v) },
		"exchanges": func(v *source.Value) { s.Exchanges = each(d, v, "exchanges", d.exchange) },
	}
	if d.object(root, "script", known) && len(s.Exchanges) == 0 && len(d.errs) == 0 {
		d.fail(root.At, "the script has no exchanges")
	}
	return s
}

// each reads a list.
func each[T any](d *decoder, v *source.Value, what string, read func(*source.Value) T) []T {
	if v.Kind != source.List {
		d.fail(v.At, "%s: want a list, this is %s", what, v.Kind)
		return nil
	}
	out := make([]T, len(v.Items))
	for i, item := range v.Items {
		out[i] = read(item)
	}
	return out
}

func (d *decoder) exchange(v *source.Value) Exchange {
	e := Exchange{Line: v.At.Line}
	found := d.object(v, "exchange", keys{
		"match":   func(v *source.Value) { e.Match = d.match(v) },
		"times":   d.count("times", &e.Times),
		"reply":   func(v *source.Value) { e.Replies = append(e.Replies, d.reply(v)) },
		"replies": func(v *source.Value) { e.Replies = append(e.Replies, each(d, v, "replies", d.reply)...) },
	})
	switch {
	case !found:
	case v.Field("reply") != nil && v.Field("replies") != nil:
		d.fail(v.At, "exchange: reply and replies are both there; want one of them")
	case v.Field("reply") == nil && v.Field("replies") == nil:
		d.fail(v.At, "exchange: no reply")
	case len(e.Replies) == 0 && v.Field("replies").Kind == source.List:
		d.fail(v.Field("replies").At, "replies: the list is empty")
	}
	return e
}

func (d *decoder) match(v *source.Value) (m Match) {
	d.object(v, "match", keys{
		"node": d.text("node", &m.Node), "visit": d.count("visit", &m.Visit), "turn": d.count("turn", &m.Turn),
		"model": d.text("model", &m.Model), "schema": d.text("schema", &m.Schema),
		"tools":    d.texts("tools", &m.Tools),
		"contains": d.texts("contains", &m.Contains), "not_contains": d.texts("not_contains", &m.NotContains),
		"anywhere": d.texts("anywhere", &m.Anywhere), "not_anywhere": d.texts("not_anywhere", &m.NotAnywhere),
	})
	return m
}

var finishes = []string{"stop", "length", "tool_calls", "content_filter"}

func (d *decoder) reply(v *source.Value) (r Reply) {
	ok := d.object(v, "reply", keys{
		"text":       d.text("text", &r.Text),
		"json":       func(v *source.Value) { r.Text = v.JSON() },
		"tool_calls": func(v *source.Value) { r.ToolCalls = each(d, v, "tool_calls", d.toolCall) },
		"usage":      func(v *source.Value) { r.Usage, r.NoUsage = d.usage(v) },
		"finish":     d.oneOf("finish", finishes, &r.Finish),
		"delay":      d.duration("delay", &r.Delay),
		"error":      func(v *source.Value) { r.Fault = d.fault(v) },
	})
	content := v.Field("text") != nil || v.Field("json") != nil || v.Field("tool_calls") != nil
	switch {
	case !ok:
	case v.Field("text") != nil && v.Field("json") != nil:
		d.fail(v.At, "reply: text and json are both there; want one of them")
	case v.Field("error") != nil && (content || v.Field("usage") != nil || v.Field("finish") != nil):
		d.fail(v.At, "reply: an error goes with delay only")
	case v.Field("error") == nil && !content:
		d.fail(v.At, "reply: want one of text, json, tool_calls, error")
	}
	return r
}

func (d *decoder) toolCall(v *source.Value) (c ToolCall) {
	c.Args = "{}"
	ok := d.object(v, "tool call", keys{
		"id": d.text("id", &c.ID), "name": d.text("name", &c.Name),
		"args": func(v *source.Value) { c.Args = d.args(v) },
	})
	if ok && v.Field("name") == nil {
		d.fail(v.At, "tool call: no name")
	}
	return c
}

// args are an object, or text that is sent as it is, JSON or not.
func (d *decoder) args(v *source.Value) string {
	switch v.Kind {
	case source.Object:
		return v.JSON()
	case source.Text:
		return v.Text
	}
	d.fail(v.At, "args: want a mapping or text, this is %s", v.Kind)
	return ""
}

func (d *decoder) usage(v *source.Value) (*Usage, bool) {
	if v.Kind == source.Text && v.Text == "none" {
		return nil, true
	}
	u := &Usage{}
	if v.Kind != source.Object {
		d.fail(v.At, `usage: want a mapping or "none", this is %s`, v.Kind)
		return nil, false
	}
	d.object(v, "usage", keys{
		"input": d.tokens("input", &u.Input), "output": d.tokens("output", &u.Output),
		"cached": d.tokens("cached", &u.Cached), "reasoning": d.tokens("reasoning", &u.Reasoning),
	})
	if u.Cached > u.Input || u.Reasoning > u.Output {
		d.fail(v.At, "usage: cached is a part of input and reasoning a part of output; a part is larger than its whole")
	}
	return u, false
}

func (d *decoder) fault(v *source.Value) *Fault {
	f := &Fault{}
	var kind string
	ok := d.object(v, "error", keys{
		"kind": d.oneOf("kind", kinds, &kind), "message": d.text("message", &f.Message),
		"status": func(v *source.Value) { f.Status = d.status(v) },
		"type":   d.text("type", &f.Type), "code": d.text("code", &f.Code),
		"retry_after": func(v *source.Value) { f.RetryAfter = d.retryAfter(v) },
	})
	f.Kind = Kind(kind)
	if ok && (v.Field("kind") == nil) == (v.Field("status") == nil) {
		d.fail(v.At, "error: want one of status (400 to 599) and kind (%s)", strings.Join(kinds, ", "))
	}
	if ok && v.Field("kind") != nil && len(v.Fields) > 1 {
		d.fail(v.At, "error: kind goes with nothing else")
	}
	return f
}

func (d *decoder) status(v *source.Value) int {
	n, err := strconv.Atoi(v.Text)
	if v.Kind != source.Number || err != nil || n < 400 || n > 599 {
		d.fail(v.At, "status: want a number from 400 to 599")
	}
	return n
}

func (d *decoder) retryAfter(v *source.Value) string {
	seconds, err := strconv.Atoi(v.Text)
	_, notDate := http.ParseTime(v.Text)
	if v.Kind == source.Number && err == nil && seconds >= 0 || v.Kind == source.Text && notDate == nil {
		return v.Text
	}
	d.fail(v.At, "retry_after: want whole seconds, or a date as HTTP writes it in quotes")
	return ""
}

func (d *decoder) price(v *source.Value) *budget.Price {
	p := &budget.Price{}
	ok := d.object(v, "price", keys{
		"input": d.dollars("input", &p.Input), "cached": d.dollars("cached", &p.Cached),
		"cache_write": d.dollars("cache_write", &p.CacheWrite), "output": d.dollars("output", &p.Output),
	})
	if ok && (v.Field("input") == nil || v.Field("output") == nil) {
		d.fail(v.At, "price: want input and output, in dollars per million tokens")
	}
	if v.Field("cached") == nil {
		p.Cached = p.Input
	}
	if v.Field("cache_write") == nil {
		p.CacheWrite = p.Input
	}
	return p
}

func (d *decoder) dollars(what string, to *budget.Micros) func(*source.Value) {
	return func(v *source.Value) {
		amount := v.Text
		if v.Kind == source.Number {
			amount = v.Source
		}
		m, err := budget.ParseMicros(amount)
		if v.Kind != source.Number && v.Kind != source.Text || err != nil {
			d.fail(v.At, "%s: want dollars per million tokens, for example 0.25", what)
		}
		*to = m
	}
}

func (d *decoder) text(what string, to *string) func(*source.Value) {
	return func(v *source.Value) {
		if v.Kind != source.Text {
			d.fail(v.At, "%s: want text, this is %s: put it in quotes", what, v.Kind)
		}
		*to = v.Text
	}
}

// texts reads a text or a list of texts, none of them empty.
func (d *decoder) texts(what string, to *[]string) func(*source.Value) {
	return func(v *source.Value) {
		items := v.Items
		if v.Kind != source.List {
			items = []*source.Value{v}
		}
		for _, item := range items {
			var s string
			d.text(what, &s)(item)
			if item.Kind == source.Text && s == "" {
				d.fail(item.At, "%s: an empty text matches everything", what)
			}
			*to = append(*to, s)
		}
	}
}

func (d *decoder) oneOf(what string, set []string, to *string) func(*source.Value) {
	return func(v *source.Value) {
		if v.Kind != source.Text || !slices.Contains(set, v.Text) {
			d.fail(v.At, "%s: want one of %s", what, strings.Join(set, ", "))
		}
		*to = v.Text
	}
}

// count reads a whole number from 1.
func (d *decoder) count(what string, to *int) func(*source.Value) {
	return func(v *source.Value) {
		n, err := strconv.Atoi(v.Text)
		if v.Kind != source.Number || err != nil || n < 1 {
			d.fail(v.At, "%s: want a whole number from 1", what)
		}
		*to = n
	}
}

// maxTokens bounds a figure of tokens; beyond it sums could overflow.
const maxTokens = 1 << 40

func (d *decoder) tokens(what string, to *int64) func(*source.Value) {
	return func(v *source.Value) {
		n, err := strconv.ParseInt(v.Text, 10, 64)
		if v.Kind != source.Number || err != nil || n < 0 || n > maxTokens {
			d.fail(v.At, "%s: want a whole number of tokens", what)
		}
		*to = n
	}
}

func (d *decoder) duration(what string, to *time.Duration) func(*source.Value) {
	return func(v *source.Value) {
		t, err := time.ParseDuration(v.Text)
		if v.Kind != source.Text || err != nil || t < 0 {
			d.fail(v.At, "%s: want a duration such as 200ms or 2s", what)
		}
		*to = t
	}
}
