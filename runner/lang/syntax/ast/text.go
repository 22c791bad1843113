package ast

import (
	"github.com/pawl-ci/pawl/runner/lang/diag"
	"github.com/pawl-ci/pawl/runner/lang/syntax/scan"
)

// Text is decoded text that knows where each of its bytes comes from, through
// escapes, removed indentation and CRLF line ends.
type Text struct {
	Value  string
	Span   diag.Span   // all of it as written, with quotes
	Places scan.Places // nil when the text is one stretch of the source

	lead int // without places: how far into Span the text begins
}

// At is the span of Value[start:end] in the source. Offsets outside the value
// are clamped; within an escape the span is widened to all of it.
func (t Text) At(start, end int) diag.Span {
	start = min(max(start, 0), len(t.Value))
	end = min(max(end, start), len(t.Value))
	if t.Places == nil {
		return t.Span.Sub(t.lead+start, t.lead+end)
	}
	from, to := t.Places.At(len(t.Value), start, end)
	return diag.Span{File: t.Span.File, Start: from, End: to}
}
