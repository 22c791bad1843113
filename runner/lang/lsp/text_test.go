package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"

	"github.com/pawl-ci/pawl/runner/lang/diag"
)

var encodings = []protocol.PositionEncodingKind{
	protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16, protocol.PositionEncodingKindUTF32,
}

func TestPositions(t *testing.T) {
	t.Parallel()
	const value = "aé𝄞z\r\n\rb\n"
	for _, c := range []struct {
		encoding protocol.PositionEncodingKind
		line     uint32
		unit     uint32
		offset   int
	}{
		{encodings[0], 0, 0, 0}, {encodings[0], 0, 3, 3}, {encodings[0], 0, 7, 7}, {encodings[0], 0, 8, 8},
		{encodings[1], 0, 2, 3}, {encodings[1], 0, 4, 7}, {encodings[1], 0, 5, 8},
		{encodings[2], 0, 2, 3}, {encodings[2], 0, 3, 7}, {encodings[2], 0, 4, 8},
		{encodings[1], 1, 0, 10}, {encodings[1], 2, 0, 11}, {encodings[1], 2, 1, 12}, {encodings[1], 3, 0, 13},
	} {
		text := newText(value, c.encoding)
		p := protocol.Position{Line: c.line, Character: c.unit}
		if got := text.offset(p); got != c.offset {
			t.Errorf("%s %d:%d is at %d, want %d", c.encoding, c.line, c.unit, got, c.offset)
		}
		if got := text.places().position(c.offset); got != p {
			t.Errorf("%s: %d is at %+v, want %+v", c.encoding, c.offset, got, p)
		}
	}
	text := newText(value, encodings[1])
	for _, c := range []struct {
		line, unit uint32
		offset     int
	}{
		{0, 99, 8}, // behind the end of its line
		{0, 3, 3},  // inside the pair of the clef
		{9, 0, 13}, // behind the text
		{1, 5, 10}, // an empty line
		{0, ^uint32(0), 8}, {^uint32(0), 0, 13},
	} {
		if got := text.offset(protocol.Position{Line: c.line, Character: c.unit}); got != c.offset {
			t.Errorf("%d:%d is at %d, want %d", c.line, c.unit, got, c.offset)
		}
	}
}

// anyText is text with all line ends and characters of all widths.
func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc ", "é", "𝄞", "\n", "\r\n", "\r", "\t", "日本", "\xff"}), 0, 30).Draw(t, "pieces"), "")
	})
}

// plain is the place of an offset, counted without any cleverness.
func plain(value string, offset int, encoding protocol.PositionEncodingKind) protocol.Position {
	var p protocol.Position
	for at, size := 0, 0; at < offset; at += size {
		var r rune
		r, size = utf8.DecodeRuneInString(value[at:])
		switch {
		case r == '\n', r == '\r' && !strings.HasPrefix(value[at:], "\r\n"):
			p = protocol.Position{Line: p.Line + 1}
		case r == '\r':
		case encoding == protocol.PositionEncodingKindUTF8:
			p.Character += uint32(size)
		case encoding == protocol.PositionEncodingKindUTF16:
			p.Character += uint32(utf16.RuneLen(r))
		default:
			p.Character++
		}
	}
	return p
}

// Whatever the text and the encoding, a place is what counting says, and leads
// back to where it was taken from.
func TestPositionsAreThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := anyText().Draw(t, "text")
		text := newText(value, rapid.SampledFrom(encodings).Draw(t, "encoding"))
		at := text.places()
		for offset, size := 0, 0; offset <= len(value); offset += max(size, 1) {
			_, size = utf8.DecodeRuneInString(value[offset:])
			p := at.position(offset)
			if want := plain(value, offset, text.encoding); p != want {
				t.Fatalf("%q %s: %d is at %+v, want %+v", value, text.encoding, offset, p, want)
			}
			back := text.offset(p)
			if between := offset > 0 && value[offset-1] == '\r' && offset < len(value) && value[offset] == '\n'; back != offset && !between {
				t.Fatalf("%q %s: %d is at %+v, which is %d", value, text.encoding, offset, p, back)
			}
		}
	})
}

// A change does to the text what it would do to a string.
func TestChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := anyText().Draw(t, "text")
		encoding := rapid.SampledFrom(encodings).Draw(t, "encoding")
		text := newText(value, encoding)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			start := rapid.IntRange(0, len(value)).Draw(t, "start")
			end := rapid.IntRange(start, len(value)).Draw(t, "end")
			at := text.places()
			r := at.span(diag.Span{Start: start, End: end})
			start, end = text.offset(r.Start), text.offset(r.End) // never inside a character
			added := anyText().Draw(t, "added")
			text = text.apply(&protocol.TextDocumentContentChangePartial{Range: r, Text: added})
			value = value[:start] + added + value[max(start, end):]
			if text.value != value {
				t.Fatalf("got %q, want %q", text.value, value)
			}
			if again := newText(value, encoding); len(again.starts) != len(text.starts) {
				t.Fatalf("%q has %d lines, want %d", value, len(text.starts), len(again.starts))
			}
		}
	})
}

func TestChangesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	text := newText("one\ntwo\n", encodings[1])
	backwards := protocol.Range{Start: protocol.Position{Line: 1, Character: 2}, End: protocol.Position{Line: 0, Character: 1}}
	if got := text.apply(&protocol.TextDocumentContentChangePartial{Range: backwards, Text: "-"}); got.value != "one\ntw-o\n" {
		t.Errorf("a range that ends before it begins: %q", got.value)
	}
	if got := text.apply(nil); got != text {
		t.Errorf("no change: %q", got.value)
	}
}

// Hunks make the one text of the other and leave lines alone that both have.
func TestHunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "  d\n", "e"}), 0, 12)
		before, after := strings.Join(lines.Draw(t, "before"), ""), strings.Join(lines.Draw(t, "after"), "")
		got := before
		list := hunks(before, after)
		for i := len(list) - 1; i >= 0; i-- {
			got = got[:list[i].start] + list[i].text + got[list[i].end:]
		}
		if got != after {
			t.Fatalf("%q to %q: %+v give %q", before, after, list, got)
		}
	})
	if got := hunks("a\n  b\nc\n", "a\nb\nc\n"); len(got) != 1 || got[0] != (hunk{2, 6, "b\n"}) {
		t.Errorf("one line changed: %+v", got)
	}
	if got := hunks("a\n", "a\n"); got != nil {
		t.Errorf("nothing changed: %+v", got)
	}
}

// What editors know decides how columns are counted.
func TestAgreement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		known []string
		want  string
		col   int
	}{
		{nil, "utf-16", 11}, {[]string{"utf-16"}, "utf-16", 11}, {[]string{"utf-16", "utf-32"}, "utf-32", 10},
		{[]string{"utf-32", "utf-8", "utf-16"}, "utf-8", 15}, {[]string{"ebcdic"}, "utf-16", 11},
	} {
		s := start(t, Options{})
		r := s.initialize(object{"general": object{"positionEncodings": c.known}})
		if got := r["capabilities"].(object)["positionEncoding"]; got != c.want {
			t.Errorf("%v: agreed on %v, want %s", c.known, got, c.want)
		}
		s.open("prompt p:\n  Grüße 𝄞 {{vars.nobody}}\n\nagent a:\n  model: \"m\"\n  user: p\n\nworkflow w:\n  entry: a\n  a -> done\n")
		s.findings(1)
		h := call[struct{ Range span }](s, "textDocument/hover", at(1, c.col+2+2))
		if h.Range.Start != (position{1, c.col + 2}) {
			t.Errorf("%s: the reference is at %+v, want column %d", c.want, h.Range.Start, c.col+2)
		}
	}
}
