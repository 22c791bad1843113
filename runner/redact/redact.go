// Package redact takes secrets out of text before it is recorded, shown or
// committed: values known to be secret in the forms they are usually written in,
// and text that looks like a well-known kind of token.
//
// It stands on floor 0 and is pure: it imports no other room.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// minLength is the length in bytes below which a value is not looked for: "1" or
// "test" as a secret would only tear holes into every text.
const minLength = 8

// patterns are kinds of token that are secret wherever they appear. Each begins
// with a mark of its own, so that ordinary code does not match.
var patterns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(kinds, "|")) })

var kinds = []string{
	`gh[pousr]_[A-Za-z0-9]{36,}`,
	`github_pat_[A-Za-z0-9_]{50,}`,
	`sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{32,}`,
	`xox[abeprs]-[A-Za-z0-9-]{20,}`,
	`AIza[A-Za-z0-9_-]{35}`,
	`glpat-[A-Za-z0-9_-]{20,}`,
	`npm_[A-Za-z0-9]{36}`,
	`(?s)-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----.*?-----END (?:[A-Z]+ )?PRIVATE KEY-----`,
}

// hints are the texts without one of which patterns cannot match; looking for
// them first keeps the common case at the speed of a search for bytes.
var hints = []string{"gh", "github_pat_", "sk-", "xox", "AIza", "glpat-", "npm_", "PRIVATE KEY"}

// Redactor removes secrets. Its zero value knows only the patterns; it may be
// used from many goroutines.
type Redactor struct {
	forms *strings.Replacer
}

// New returns a redactor for the given secret values. Short values are left out.
func New(values []string) *Redactor {
	var forms []string
	for _, v := range values {
		if len(strings.TrimSpace(v)) >= minLength {
			forms = append(forms, formsOf(v)...)
		}
	}
	// Longer forms first: one that contains another must win.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, Mark)
	}
	if len(pairs) == 0 {
		return &Redactor{}
	}
	return &Redactor{forms: strings.NewReplacer(pairs...)}
}

// formsOf lists how a value may appear: as it is, trimmed, in JSON, in a URL, and
// in base64 at each of the three alignments.
func formsOf(v string) []string {
	trimmed := strings.TrimSpace(v)
	forms := []string{v, trimmed, url.QueryEscape(trimmed), url.PathEscape(trimmed)}
	if quoted, err := json.Marshal(trimmed); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for shift := range 3 {
		forms = append(forms, base64Core(trimmed, shift)...)
	}
	return slices.DeleteFunc(forms, func(f string) bool { return len(f) < minLength })
}

// base64Core is the part of the value's encoding that does not depend on what
// stands around it when shift bytes stand before it.
func base64Core(v string, shift int) []string {
	padded := strings.Repeat("\x00", shift) + v
	padded = padded[:len(padded)-len(padded)%3]
	skip := []int{0, 4, 4}[shift]
	var out []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		if text := enc.EncodeToString([]byte(padded)); len(text) > skip+2*minLength {
			out = append(out, text[skip:])
		}
	}
	return out
}

// String returns s with every secret replaced by [Mark].
func (r *Redactor) String(s string) string {
	if r != nil && r.forms != nil {
		s = r.forms.Replace(s)
	}
	if slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(s, h) }) {
		s = patterns().ReplaceAllLiteralString(s, Mark)
	}
	return s
}

// secretNames matches names of environment variables whose values are secret.
var secretNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY|_KEY$|_PAT$|^KEY$)`)
})

// FromEnvironment picks the secret values out of "NAME=value" lines by name.
func FromEnvironment(environ []string) []string {
	var values []string
	for _, line := range environ {
		name, value, ok := strings.Cut(line, "=")
		if ok && secretNames().MatchString(name) && !isPath(value) {
			values = append(values, value)
		}
	}
	return values
}

// isPath keeps values such as SSH_AUTH_SOCK's or a key file's path readable.
func isPath(v string) bool { return strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 }
