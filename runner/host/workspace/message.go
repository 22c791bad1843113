package workspace

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/pawl-ci/pawl/runner"
)

var trailerKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// message lays out a commit message: subject, body, and trailers as the last
// paragraph, which is the only one that git reads trailers from: what a model
// wrote into the body cannot pass for one.
func message(c runner.Commit) (string, error) {
	subject := oneLine(c.Subject)
	if subject == "" {
		return "", errors.New("commit: the subject is empty")
	}
	if c.Time.IsZero() {
		return "", errors.New("commit: no time was given")
	}
	parts := []string{subject}
	if body := cleanText(c.Body); body != "" {
		parts = append(parts, body)
	}
	var trailers []string
	for _, tr := range c.Trailers {
		value := oneLine(tr.Value)
		if !trailerKey.MatchString(tr.Key) || value == "" {
			return "", fmt.Errorf("commit: %q: %q is no trailer", tr.Key, tr.Value)
		}
		trailers = append(trailers, tr.Key+": "+value)
	}
	if len(trailers) > 0 {
		parts = append(parts, strings.Join(trailers, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n", nil
}

// oneLine folds s into one line of plain text.
func oneLine(s string) string { return strings.Join(strings.Fields(cleanText(s)), " ") }

// cleanText drops what has no place in a commit message: control characters,
// invalid UTF-8, spaces at line ends, blank lines around.
func cleanText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRightFunc(lines[i], unicode.IsSpace)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
