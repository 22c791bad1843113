package data

import (
	"fmt"
	"strings"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// maxSize is how many bytes a file may have, and maxDepth how deep its values may
// be nested. Both keep a hostile file from costing more than a second.
const (
	maxSize  = 256 << 10
	maxDepth = 100
)

// unreadable is the code of everything that keeps a file from being a value.
const unreadable diag.Code = "P180"

// Read reads a file, as JSON when it begins with a brace, else as one YAML
// document. The value is nil when the text cannot be read; the list then holds
// one error that says why. Keys that are there twice are errors, and the first
// one counts. Anchors, aliases and tags are refused: they would let a short file
// become a huge value.
func Read(f *diag.File) (*Value, diag.List) {
	var list diag.List
	whole := diag.Span{File: f, Start: 0, End: min(len(f.Text), 1)}
	if len(f.Text) > maxSize {
		list.Errorf(unreadable, whole, "split it", "%s has %d bytes: at most %d are read", f.Name, len(f.Text), maxSize)
		return nil, list
	}
	r := reader{file: f, list: &list}
	var root *Value
	var err error
	if strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(f.Text, bom), " \t\r\n"), "{") {
		root, err = r.json()
	} else {
		root, err = r.yaml()
	}
	if err != nil {
		list = diag.List{asDiagnostic(err, whole)}
		return nil, list
	}
	list.Sort()
	return root, list
}

// bom is the byte order mark, which is skipped.
const bom = "\uFEFF"

// reader is what reading YAML and JSON have in common.
type reader struct {
	file *diag.File
	list *diag.List
}

// trouble is the one error that ends the reading.
type trouble struct {
	span    diag.Span
	message string
	hint    string
}

// Error implements error.
func (t *trouble) Error() string { return t.message }

func asDiagnostic(err error, whole diag.Span) diag.Diagnostic {
	d := diag.Diagnostic{Code: unreadable, Severity: diag.Error, Span: whole, Message: err.Error()}
	if t, ok := err.(*trouble); ok {
		d.Span, d.Hint = t.span, t.hint
	}
	return d
}

func (r reader) span(start, end int) diag.Span {
	n := len(r.file.Text)
	start = min(max(start, 0), n)
	return diag.Span{File: r.file, Start: start, End: min(max(end, start), n)}
}

// keys are the keys that an object has, and where they stand.
type keys map[string]diag.Span

// add puts a field into an object, unless its key is taken.
func (r reader) add(object *Value, seen keys, f Field) {
	if first, taken := seen[f.Key]; taken {
		r.list.Add(diag.Diagnostic{
			Code: "P128", Severity: diag.Error, Span: f.At, Hint: "delete one of them",
			Message: fmt.Sprintf("the key %s is there twice", f.Key),
			Related: []diag.Related{{Span: first, Message: "the first one is here"}},
		})
		return
	}
	seen[f.Key] = f.At
	object.Fields = append(object.Fields, f)
}

func (r reader) tooDeep(depth int, span diag.Span) error {
	if depth <= maxDepth {
		return nil
	}
	return &trouble{span, fmt.Sprintf("values are nested more than %d deep", maxDepth), "flatten them"}
}
