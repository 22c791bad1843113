package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// kind is the type of an argument.
type kind string

const (
	text   kind = "string"
	number kind = "integer"
	flag   kind = "boolean"
)

// param is one argument of a tool.
type param struct {
	name  string
	kind  kind
	must  bool
	about string
	least int // of a number
	most  int // of a number
}

// args are a call's arguments: string, int or bool by name. What is not given
// has no entry.
type args map[string]any

func (a args) text(name string) string { s, _ := a[name].(string); return s }
func (a args) flag(name string) bool   { b, _ := a[name].(bool); return b }

func (a args) number(name string, otherwise int) int {
	if n, ok := a[name].(int); ok {
		return n
	}
	return otherwise
}

// decode reads a call's arguments. What is wrong with them is said together with
// what would be right.
func (b *builtin) decode(raw json.RawMessage) (args, error) {
	raw = bytes.TrimSpace(raw)
	given := map[string]json.RawMessage{}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, b.misuse("the arguments are not a JSON object: " + reason(err))
		}
	}
	a := args{}
	for _, p := range b.params {
		value, ok := given[p.name]
		delete(given, p.name)
		if !ok || string(value) == "null" {
			if p.must {
				return nil, b.misuse(fmt.Sprintf("%q is missing", p.name))
			}
			continue
		}
		v, problem := p.read(value)
		if problem != "" {
			return nil, b.misuse(problem)
		}
		a[p.name] = v
	}
	if unknown := slices.Sorted(maps.Keys(given)); len(unknown) > 0 {
		what := fmt.Sprintf("there is no argument %q", clip(unknown[0], 60))
		if near := diag.Nearest(unknown[0], b.names()); near != "" {
			what += fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, b.misuse(what)
	}
	return a, nil
}

// reason is what was wrong with the JSON, without Go's words for it.
func reason(err error) string {
	if wrong, ok := err.(*json.UnmarshalTypeError); ok {
		return "they are a JSON " + wrong.Value
	}
	return err.Error()
}

func (b *builtin) names() []string {
	var names []string
	for _, p := range b.params {
		names = append(names, p.name)
	}
	return names
}

// misuse says what was wrong and how the tool is used.
func (b *builtin) misuse(what string) problem {
	var takes []string
	for _, p := range b.params {
		optional := ""
		if !p.must {
			optional = ", optional"
		}
		takes = append(takes, fmt.Sprintf("%q (%s%s)", p.name, p.kind, optional))
	}
	return problemf("%s; %s takes %s", what, b.name, strings.Join(takes, ", "))
}

// read decodes a value. Numbers and truth values written as text are understood:
// models do write them so.
func (p *param) read(raw json.RawMessage) (value any, problem string) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return nil, fmt.Sprintf("%q cannot be read: %v", p.name, err)
	}
	s, isText := v.(string)
	switch p.kind {
	case text:
		if isText {
			return s, ""
		}
	case flag:
		if yes, err := strconv.ParseBool(s); isText && err == nil {
			return yes, ""
		}
		if yes, ok := v.(bool); ok {
			return yes, ""
		}
	case number:
		if n, ok := v.(json.Number); ok {
			s, isText = n.String(), true
		}
		if f, err := strconv.ParseFloat(s, 64); isText && err == nil && f == math.Trunc(f) {
			if f < float64(p.least) || f > float64(p.most) {
				return nil, fmt.Sprintf("%q must lie between %d and %d", p.name, p.least, p.most)
			}
			return int(f), ""
		}
	}
	return nil, fmt.Sprintf("%q must be of type %s, not %s", p.name, p.kind, clip(string(raw), 60))
}

// schemas are the JSON schemas of all tools' arguments, by proper name. They are
// the same bytes every time.
var schemas = sync.OnceValue(func() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for i := range builtins {
		all[builtins[i].name] = builtins[i].schema()
	}
	return all
})

func (b *builtin) schema() json.RawMessage {
	var out bytes.Buffer
	out.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range b.params {
		if i > 0 {
			out.WriteByte(',')
		}
		about, _ := json.Marshal(p.about)
		fmt.Fprintf(&out, `%q:{"type":%q,"description":%s`, p.name, p.kind, about)
		if p.kind == number {
			fmt.Fprintf(&out, `,"minimum":%d,"maximum":%d`, p.least, p.most)
		}
		out.WriteByte('}')
		if p.must {
			required = append(required, p.name)
		}
	}
	names, _ := json.Marshal(required)
	fmt.Fprintf(&out, `},"required":%s,"additionalProperties":false}`, names)
	return out.Bytes()
}
