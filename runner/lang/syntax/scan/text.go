package scan

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is decoded text and where it stands: the bytes [Start, End).
type Text struct {
	Value  string
	Start  int
	End    int
	Places Places // nil when the text is one stretch of the source, from Start on
}

// Places say where each byte of a decoded text comes from.
type Places []run

// run is a stretch of the value and where it comes from. Where both have the
// same length, byte stands for byte; otherwise the stretch is one escape.
type run struct {
	val  int // offset in the value
	src  int // offset in the source
	size int // bytes in the source
}

// Whole are the places of a text that stands, as one, for the bytes [start, end).
func Whole(start, end int) Places { return Places{{0, start, end - start}} }

// At is where the bytes [start, end) of a value of the given length come from.
// The offsets must lie in the value; within an escape the place is all of it.
func (p Places) At(length, start, end int) (from, to int) {
	if start == length {
		_, to = p.place(length, start-1)
		return to, to
	}
	if from, to = p.place(length, start); end == start {
		return from, from
	}
	if end > start+1 {
		_, to = p.place(length, end-1)
	}
	return from, to
}

// place is where byte i of the value begins and ends.
func (p Places) place(length, i int) (from, to int) {
	k := sort.Search(len(p), func(k int) bool { return p[k].val > i }) - 1
	r, next := p[k], length
	if k+1 < len(p) {
		next = p[k+1].val
	}
	if next-r.val != r.size {
		return r.src, r.src + r.size
	}
	return r.src + i - r.val, r.src + i - r.val + 1
}

// simpleEscapes are the escapes of one letter.
var simpleEscapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\'}

// Unescape decodes the string between two quotes, the bytes [start, end) of src.
// An escape that does not exist is told to bad with its bytes, and stays as it is
// written. Places are nil when nothing was decoded.
func Unescape(src string, start, end int, bad func(start, end int)) (string, Places) {
	var b strings.Builder
	b.Grow(end - start)
	var places Places
	plain := func(from, to int) {
		if to > from {
			places = append(places, run{b.Len(), from, to - from})
			b.WriteString(src[from:to])
		}
	}
	done := start
	for i := start; i < end; {
		n := strings.IndexByte(src[i:end], '\\')
		if n < 0 {
			break
		}
		i += n
		decoded, size := escape(src[i:end])
		if decoded == "" {
			if size > 0 {
				bad(i, i+size)
			}
			i++
			continue
		}
		plain(done, i)
		places = append(places, run{b.Len(), i, size})
		b.WriteString(decoded)
		i += size
		done = i
	}
	if places == nil {
		return src[start:end], nil
	}
	plain(done, end)
	return b.String(), places
}

// escape decodes the escape that text begins with. It is "" for one that does
// not exist, with what is wrong in size; 0 where the text ends in the middle.
func escape(text string) (decoded string, size int) {
	if len(text) < 2 {
		return "", 0
	}
	if c := simpleEscapes[text[1]]; c != 0 {
		return string(c), 2
	}
	if text[1] == 'u' {
		if r, size := unicodeEscape(text); size > 0 {
			return string(r), size
		}
		return "", 2
	}
	_, width := utf8.DecodeRuneInString(text[1:])
	return "", 1 + width
}

// unicodeEscape reads \uXXXX, or two of them that make one character.
func unicodeEscape(text string) (r rune, size int) {
	r, ok := hex4(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) && r != 0 {
		return r, 6
	}
	low, ok := hex4(text[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 32)
	return rune(n), err == nil
}
