package verify

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// failureMark is a line that says where something went wrong, in the words of the
// usual test runners and compilers.
var failureMark = pattern(`(?m)^.*(--- FAIL|^FAIL|\bFAILED\b|\bpanic: |\bpanicked at|\bTraceback \(most|^\s*not ok \d|✖ |● |\bAssertionError\b|(?i:\berror\b)[:\[]).*$`)

const gapRoom = 40 // bytes that the line about the gap may take

// excerpt cuts output down to limit bytes. When the first failure is in its last
// part, that part is kept; else the lines from the first failure on (or from the
// start, when nothing looks like one) and a shorter last part. What is left out
// is said.
func excerpt(output string, limit int) string {
	text := strings.TrimRight(plainText(output), "\n\t ")
	if len(text) <= limit {
		return text
	}
	from := 0
	if m := failureMark().FindStringIndex(text); m != nil {
		from = m[0]
	}
	if end := ending(text, limit-gapRoom); from >= len(text)-len(end) {
		return gap(len(text)-len(end), "") + end
	}
	head := limit * 2 / 5
	begin := beginning(text[from:], head-gapRoom)
	end := ending(text[from+len(begin):], limit-head-gapRoom)
	return gap(from, "") + begin + gap(len(text)-from-len(begin)-len(end), "\n") + end
}

// gap is the line that stands for n bytes.
func gap(n int, before string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s[… %d bytes left out …]\n", before, n)
}

// beginning is at most n bytes of whole lines from the start of text, or a part
// of its first line when that is longer.
func beginning(text string, n int) string {
	if n = max(n, 0); len(text) <= n {
		return text
	}
	if i := strings.LastIndexByte(text[:n+1], '\n'); i > 0 {
		return text[:i]
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// ending is at most n bytes of whole lines from the end of text, or a part of
// its last line when that is longer.
func ending(text string, n int) string {
	if n = max(n, 0); len(text) <= n {
		return text
	}
	at := len(text) - n
	if i := strings.IndexByte(text[at-1:], '\n'); i >= 0 && at+i < len(text) {
		return text[at+i:]
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}
