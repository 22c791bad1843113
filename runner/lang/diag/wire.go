package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// place is a span as machines read it: 1-based lines and columns in characters,
// the end just behind the last one.
type place struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	EndColumn int    `json:"end_column,omitempty"`
}

func placeOf(s Span) place {
	if s.IsZero() {
		return place{}
	}
	from, to := s.Position(), s.EndPosition()
	return place{s.File.Name, from.Line, from.Column, to.Line, to.Column}
}

// MarshalJSON writes code, severity, file, line, column, end_line, end_column,
// message, hint and related. Lines and columns count from 1, columns count
// characters, and the end lies just behind the last one; a diagnostic that
// points nowhere has none of them.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	type related struct {
		place
		Message string `json:"message"`
	}
	wire := struct {
		Code     Code   `json:"code"`
		Severity string `json:"severity"`
		place
		Message string    `json:"message"`
		Hint    string    `json:"hint,omitempty"`
		Related []related `json:"related,omitempty"`
	}{Code: d.Code, Severity: d.Severity.String(), place: placeOf(d.Span), Message: d.Message, Hint: d.Hint}
	for _, r := range d.Related {
		wire.Related = append(wire.Related, related{placeOf(r.Span), r.Message})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(wire)
	return buf.Bytes(), err
}

// WriteJSON writes the list as one array of objects; see
// [Diagnostic.MarshalJSON] for their fields. An empty list is an empty array.
func WriteJSON(w io.Writer, list List) error {
	if list == nil {
		list = List{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	return nil
}

// Annotation is a diagnostic as a review shows it beside the line. Texts are
// plain: whoever sends them escapes them as the receiver demands.
type Annotation struct {
	File                             string
	Line, Column, EndLine, EndColumn int    // as in JSON; 0 where the diagnostic points nowhere
	Level                            string // "error" or "warning"
	Title                            string // "C001: unknown node in edge"
	Message                          string // message, hint and related places, one a line
}

// Annotation returns d in the form for reviews.
func (d Diagnostic) Annotation() Annotation {
	p := placeOf(d.Span)
	a := Annotation{
		File: p.File, Line: p.Line, Column: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn,
		Level: d.Severity.String(), Title: string(d.Code),
	}
	if rule, known := Lookup(d.Code); known {
		a.Title += ": " + rule.Title
	}
	lines := []string{d.Message}
	if d.Hint != "" {
		lines = append(lines, "hint: "+d.Hint)
	}
	for _, r := range d.Related {
		lines = append(lines, r.Span.String()+": "+r.Message)
	}
	a.Message = strings.Join(lines, "\n")
	return a
}
