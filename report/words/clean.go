package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes text from anywhere safe to print on one line of a terminal or a
// log: escape sequences go, white space becomes single spaces, and characters that
// show nothing or change the direction of what follows are written as [U+202E].
func OneLine(text string) string {
	text, _ = Clean(text)
	return strings.Join(strings.Fields(text), " ")
}

// Text makes text of several lines safe to print, in the way of [OneLine].
func Text(text string) string {
	text, _ = Clean(text)
	return text
}

// Clean returns text as valid UTF-8 whose only control characters are line feeds
// and tabs, and how many characters it had to make visible.
func Clean(text string) (out string, hidden int) {
	if plainASCII(text) {
		return text, 0
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(text)
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		if text[i] == esc {
			if n := escapeLength(text[i:]); n > 0 {
				i += n
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if !invisible(r, b.String()) {
			b.WriteRune(r)
			continue
		}
		n := 1
		for strings.HasPrefix(text[i:], string(r)) {
			i, n = i+size, n+1
		}
		hidden += n
		b.WriteString(marker(r, n))
	}
	return b.String(), hidden
}

func plainASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// marker stands for n equal characters that cannot be seen.
func marker(r rune, n int) string {
	if n == 1 {
		return fmt.Sprintf("[U+%04X]", r)
	}
	return fmt.Sprintf("[U+%04X ×%d]", r, n)
}

// blanks are letters and symbols that are drawn as nothing.
const blanks = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"

// emojiStyle asks for the coloured form of the character before it.
const emojiStyle = '\ufe0f'

// invisible reports whether r can carry a message that nobody sees, or reorder
// the text around it. before is what was written so far: one variation selector
// belongs to an emoji, a second one hides something.
func invisible(r rune, before string) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == emojiStyle:
		return before == "" || strings.HasSuffix(before, string(emojiStyle))
	case unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Noncharacter_Code_Point, r) ||
		strings.ContainsRune(blanks, r)
}

const esc = 0x1b

// maxEscape bounds a control string, so that one that never ends cannot swallow
// the text behind it.
const maxEscape = 256

// escapeLength is the number of bytes of the terminal sequence at the start of
// text, or 0 when there is no complete one.
func escapeLength(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch kind := text[1]; {
	case kind == '[':
		return sequenceEnd(text, 2, 0x20, 0x3f, 0x40, 0x7e)
	case strings.IndexByte("]PX^_", kind) >= 0:
		return stringEnd(text)
	case kind >= 0x20 && kind <= 0x2f:
		return sequenceEnd(text, 2, 0x20, 0x2f, 0x30, 0x7e)
	case kind >= 0x30 && kind <= 0x7e:
		return 2
	}
	return 0
}

// sequenceEnd skips bytes in [lo, hi] and takes one in [first, last].
func sequenceEnd(text string, i int, lo, hi, first, last byte) int {
	for i < len(text) && i < maxEscape && text[i] >= lo && text[i] <= hi {
		i++
	}
	if i < len(text) && text[i] >= first && text[i] <= last {
		return i + 1
	}
	return 0
}

// stringEnd finds the end of a control string: BEL or ESC \, on the same line.
func stringEnd(text string) int {
	for i := 2; i < len(text) && i < maxEscape; i++ {
		switch {
		case text[i] == '\a':
			return i + 1
		case text[i] == '\n':
			return 0
		case text[i] == esc:
			if i+1 < len(text) && text[i+1] == '\\' {
				return i + 2
			}
			return 0
		}
	}
	return 0
}

// Clip shortens text to n characters, with an ellipsis for what is gone.
func Clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(n-1, 0)]) + "…"
}

// Short is the usual short form of a commit.
func Short(commit string) string {
	if len(commit) > 12 {
		return commit[:12]
	}
	return commit
}
