package gates

import "encoding/json"

// ID names one gate of one run: "<node>#<visit>", unique within the run.
type ID string

// Kind is the type of a field that an answer must fill.
type Kind string

// The kinds a field may have; they are the types of the .iter language.
const (
	String  Kind = "string"
	Bool    Kind = "bool"
	Int     Kind = "int"
	Float   Kind = "float"
	JSON    Kind = "json"
	Strings Kind = "string[]"
)

// Field is one value asked for.
type Field struct {
	Name     string   `json:"name"`
	Kind     Kind     `json:"kind"`
	Enum     []string `json:"enum,omitempty"` // the closed set of answers, when there is one
	Optional bool     `json:"optional,omitempty"`
}

// Question is what a person is asked. Text fields are already rendered; they
// may hold text from a model and are escaped by whoever shows them.
type Question struct {
	Run        string          `json:"run"`
	Workflow   string          `json:"workflow"`
	Gate       ID              `json:"gate"`
	Node       string          `json:"node"`
	Text       string          `json:"text,omitempty"`  // the instructions
	Input      json.RawMessage `json:"input,omitempty"` // what flowed into the gate
	Fields     []Field         `json:"fields"`
	MinAnswers int             `json:"min_answers,omitempty"` // fields that must be filled; where many people can answer, also how many must
	Branch     string          `json:"branch,omitempty"`
	Commit     string          `json:"commit,omitempty"` // the state that is being judged
}

// Answer is what somebody said. Values are raw JSON by field name and have not
// been checked against the question yet.
type Answer struct {
	Values map[string]json.RawMessage `json:"values"`
	By     string                     `json:"by"`  // who: a login, or the local user
	Via    string                     `json:"via"` // how: terminal, --answer, review, comment
}
