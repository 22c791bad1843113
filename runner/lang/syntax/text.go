package syntax

import (
	"sort"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

// Text is decoded text that knows where each of its bytes comes from, through
// escapes, removed indentation and CRLF line ends.
type Text struct {
	Value string
	Span  diag.Span // all of it as written, with quotes

	lead int   // without runs: how far into Span the text begins
	runs []run // in order; nil when the text is one stretch of the source
}

// run is a stretch of the value and where it comes from. Where both have the
// same length, byte stands for byte; otherwise the stretch is one escape.
type run struct {
	val  int // offset in the value
	src  int // offset in the file
	size int // bytes in the file
}

// At is the span of Value[start:end] in the source. Offsets outside the value
// are clamped; within an escape the span is widened to all of it.
func (t Text) At(start, end int) diag.Span {
	start = min(max(start, 0), len(t.Value))
	end = min(max(end, start), len(t.Value))
	if t.runs == nil {
		return t.Span.Sub(t.lead+start, t.lead+end)
	}
	if start == len(t.Value) {
		_, to := t.place(start - 1)
		return diag.Span{File: t.Span.File, Start: to, End: to}
	}
	from, _ := t.place(start)
	to := from
	if end > start {
		_, to = t.place(end - 1)
	}
	return diag.Span{File: t.Span.File, Start: from, End: to}
}

// place is where the byte at offset i of the value begins and ends in the file.
func (t Text) place(i int) (from, to int) {
	k := sort.Search(len(t.runs), func(k int) bool { return t.runs[k].val > i }) - 1
	r, next := t.runs[k], len(t.Value)
	if k+1 < len(t.runs) {
		next = t.runs[k+1].val
	}
	if next-r.val != r.size {
		return r.src, r.src + r.size
	}
	return r.src + i - r.val, r.src + i - r.val + 1
}
