package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/lang/ir"
)

// Reply is the form that a model's last answer must have. The zero Reply takes
// any text. It holds no part of the state and may be used from any goroutine.
type Reply struct {
	Schema *ir.Schema // what the model is given; nil: any text

	answer *ir.Schema // when set, the model may ask for a person instead
	needs  string     // the field that asks for one
	least  int        // fields that must be filled
	route  bool
}

// Read makes the recorded output out of a model's last answer, or says what is
// wrong with it. finish is the provider's reason for the answer's end.
func (r Reply) Read(text, finish string) (*event.Payload, string) {
	if r.Schema == nil {
		return inline(map[string]any{"text": text})
	}
	object, err := ir.FindObject(text)
	if err != nil {
		if finish == "length" {
			return nil, "it was cut off at the largest number of tokens an answer may have"
		}
		return nil, err.Error()
	}
	fitted, problems := r.fit(object)
	if len(problems) > 0 {
		return nil, strings.Join(problems, "; ")
	}
	return inline(fitted)
}

func (r Reply) fit(object map[string]any) (map[string]any, []string) {
	fitted, problems := r.Schema.Fit(object)
	switch {
	case len(problems) > 0:
		return nil, problems
	case r.route:
		return fitted, routeProblems(fitted)
	case r.answer == nil:
		return fitted, tooFew(r.Schema, fitted, r.least)
	case fitted[r.needs] == true:
		return map[string]any{r.needs: true, questionsField: fitted[questionsField]}, nil
	}
	answered, problems := r.answer.Fit(object)
	if len(problems) > 0 {
		return nil, append(problems, fmt.Sprintf("or set %q to true", r.needs))
	}
	problems = tooFew(r.answer, answered, r.least)
	answered[r.needs] = false
	return answered, problems
}

// tooFew says that fewer fields than wanted are filled.
func tooFew(schema *ir.Schema, fitted map[string]any, least int) []string {
	if least = min(least, len(schema.Fields)); len(fitted) >= least {
		return nil
	}
	return []string{fmt.Sprintf("%d of the fields %s must be answered, %d are", least, strings.Join(schema.Names(), ", "), len(fitted))}
}

func routeProblems(fitted map[string]any) []string {
	names := targets(fitted)
	if len(names) == 0 {
		return []string{`field "targets": name at least one`}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return []string{fmt.Sprintf("field %q: %s is named twice", "targets", name)}
		}
	}
	return nil
}

// targets are the names in a router's answer.
func targets(fitted map[string]any) []string {
	if one, ok := fitted["target"].(string); ok {
		return []string{one}
	}
	items, _ := fitted["targets"].([]any)
	names := make([]string, len(items))
	for i, item := range items {
		names[i], _ = item.(string)
	}
	return names
}

func inline(v map[string]any) (*event.Payload, string) {
	raw, err := ir.Encode(v)
	if err != nil {
		return nil, err.Error()
	}
	p := event.Inline(raw)
	return &p, ""
}

// The fields of a model that answers for a person or asks for one.
const (
	needsField     = "needs_human"
	questionsField = "questions"
	answerField    = "answer"
)

// reply is the form of what t's node wants from a model.
func (s *State) reply(t *Token) Reply {
	switch op := t.At.Op.(type) {
	case *ir.Route:
		return routeReply(t.At, op, s.choices(t))
	case *ir.Ask:
		schema := answerSchema(t.At)
		if op.Mode == ir.AutoOrPause {
			return orPerson(schema, op.MinAnswers)
		}
		return Reply{Schema: schema, least: op.MinAnswers}
	}
	return Reply{Schema: t.At.Out}
}

// answerSchema is what a human node asks for.
func answerSchema(n *ir.Node) *ir.Schema {
	if n.Out != nil {
		return n.Out
	}
	schema := &ir.Schema{Name: "approval"}
	for _, f := range ir.Approval {
		schema.Fields = append(schema.Fields, ir.Field{Field: f})
	}
	return schema
}

// orPerson lets a model ask for a person instead of filling the fields. The name
// of the field that asks gives way to a field of the workflow's own.
func orPerson(answer *ir.Schema, least int) Reply {
	needs := needsField
	for answer.Field(needs) != nil {
		needs += "_"
	}
	schema := &ir.Schema{Name: answer.Name + "_or_person", Fields: []ir.Field{
		{Field: gates.Field{Name: needs, Kind: gates.Bool}},
	}}
	if answer.Field(questionsField) == nil {
		schema.Fields = append(schema.Fields, ir.Field{Field: gates.Field{Name: questionsField, Kind: gates.Strings, Optional: true}})
	}
	for _, f := range answer.Fields {
		f.Optional = true
		schema.Fields = append(schema.Fields, f)
	}
	return Reply{Schema: schema, answer: answer, needs: needs, least: least}
}

func routeReply(n *ir.Node, op *ir.Route, choices []choice) Reply {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.name
	}
	to := gates.Field{Name: "target", Kind: gates.String, Enum: names}
	if op.Multi {
		to.Name, to.Kind = "targets", gates.Strings
	}
	schema := &ir.Schema{Name: n.ID + "_route", Fields: []ir.Field{
		{Field: gates.Field{Name: "reason", Kind: gates.String}}, {Field: to},
	}}
	return Reply{Schema: schema, route: true}
}

// choice is an edge that a model may choose, under the name it is shown with.
type choice struct {
	name string
	edge *ir.Edge
}

// choices are the edges of t's router whose loop is not used up.
func (s *State) choices(t *Token) []choice {
	var list []choice
	seen := make(map[string]int)
	for _, e := range t.At.Edges {
		if exhaustedBy(t, e) {
			continue
		}
		name := e.To.ID
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		list = append(list, choice{name, e})
	}
	return list
}
