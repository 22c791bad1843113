// Package look shows a worktree as text that fits into what a model may be sent:
// lists of files, lines that match, changes. Whatever is left out is named, with
// the way to see it.
//
// It reads files through a tree and runs nothing. It stands on floor 4 and
// imports tree.
package look

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Count is "1 line", "2 lines".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// shown is a file's name on one line.
func shown(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// sniffed is how many bytes are looked at to tell text from binary, as git does.
const sniffed = 8000

// Binary reports whether content, or the beginning of it, is not text.
func Binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffed)], 0) >= 0
}
