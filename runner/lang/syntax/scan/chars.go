package scan

import (
	"strings"
	"unicode/utf8"
)

// The classes of bytes.
const (
	isLetter  = 1 << iota // begins a word
	isDigit               // continues one
	isBare                // continues text that is no word
	isControl             // cannot stand in a file
	isBlank
)

var classes = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			table[c] = isLetter
		case c >= '0' && c <= '9':
			table[c] = isDigit
		case c == ' ', c == '\t':
			table[c] = isBlank
		case c < ' ' && c != '\n' && c != '\r', c == 0x7f:
			table[c] = isControl
		case c >= utf8.RuneSelf, strings.IndexByte("-/.@+$%&*~!<>|\\", byte(c)) >= 0:
			table[c] = isBare
		}
	}
	return table
}()

// IsLetter reports whether c begins a name.
func IsLetter(c byte) bool { return classes[c]&isLetter != 0 }

// IsName reports whether text is a name: letters, digits and underscores, no
// digit first.
func IsName(text string) bool {
	for i := range len(text) {
		class := classes[text[i]]
		if class&isLetter == 0 && (i == 0 || class&isDigit == 0) {
			return false
		}
	}
	return text != ""
}

// longestName bounds the names that are worth mending.
const longestName = 64

// PlainName is the name that text could be instead of what it is, or "".
func PlainName(text string) string {
	if len(text) > longestName {
		return ""
	}
	plain := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && classes[byte(r)]&(isLetter|isDigit) != 0 {
			return r
		}
		return '_'
	}, strings.TrimRight(text, ";,."))
	if !IsName(plain) || strings.Trim(plain, "_") == "" {
		return ""
	}
	return plain
}

// Controls counts control characters, carriage returns among them that end no
// line, and says where the first one stands. It looks at eight bytes at a time: nearly always there is none.
func Controls(src string) (found, first int) {
	const ones = 0x0101010101010101
	const low = ones * 0x7f
	for i := 0; i < len(src); {
		if i+8 <= len(src) {
			b := src[i : i+8]
			w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
				uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
			small := ^(w&low + ones*(0x80-' ') | w)        // high bits of bytes below a blank
			feed, del := w^ones*'\n', w^ones*0x7f          // bytes that are 0 where a line feed or a DEL stands
			feed, del = feed&low+low|feed, del&low+low|del // high bits of bytes that are none
			if (small&feed|^del)&^low == 0 {
				i += 8
				continue
			}
		}
		for end := min(i+8, len(src)); i < end; i++ {
			c := src[i]
			if classes[c]&isControl != 0 || c == '\r' && !strings.HasPrefix(src[i:], "\r\n") {
				if found++; found == 1 {
					first = i
				}
			}
		}
	}
	return found, first
}

// Broken counts the bytes that are not UTF-8, and says where the first one stands.
func Broken(src string) (found, first int) {
	if utf8.ValidString(src) {
		return 0, 0
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && size == 1 {
			if found++; found == 1 {
				first = i
			}
		}
		i += size
	}
	return found, first
}
