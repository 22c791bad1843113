package patch

import (
	"errors"
	"fmt"
	"strings"
)

// CRLF reports whether every line of content ends in CRLF.
func CRLF(content string) bool {
	n := strings.Count(content, "\n")
	return n > 0 && n == strings.Count(content, "\r\n")
}

// ToCRLF gives every line of text with plain line ends CRLF instead.
func ToCRLF(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// Edit replaces before, which must be in content exactly once, or at least once
// if all is set, and returns the new content, the 1-based line of the first place
// and the number of places. Where content has CRLF line ends throughout, before
// and after may have plain ones. The error is a sentence that says what would
// fit.
func Edit(content, before, after string, all bool) (fresh string, line, places int, err error) {
	switch {
	case before == "":
		return "", 0, 0, errors.New("the text to replace is empty; quote it, or write the whole file")
	case before == after:
		return "", 0, 0, errors.New("the text to replace and the new one are the same: nothing would change")
	}
	asked := before
	if CRLF(content) && !strings.Contains(before, "\r") {
		before = ToCRLF(before)
		if !strings.Contains(after, "\r") {
			after = ToCRLF(after)
		}
	}
	places = strings.Count(content, before)
	switch {
	case places == 0:
		return "", 0, 0, errors.New("the text to replace is not in the file" + nearest(content, asked))
	case places > 1 && !all:
		return "", 0, 0, fmt.Errorf("the text to replace is in the file %d times, at %s; add lines around it so that it is there once, or replace all",
			places, lineList(linesOf(content, before)))
	}
	line = 1 + strings.Count(content[:strings.Index(content, before)], "\n")
	return strings.ReplaceAll(content, before, after), line, places, nil
}

// linesOf are the 0-based lines at which text stands.
func linesOf(content, text string) []int {
	var lines []int
	line := 0
	for {
		before, rest, found := strings.Cut(content, text)
		if !found {
			return lines
		}
		line += strings.Count(before, "\n")
		lines = append(lines, line)
		line += strings.Count(text, "\n")
		content = rest
	}
}
