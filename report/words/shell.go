package words

import (
	"regexp"
	"strings"
	"sync"
)

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_%+=:,./][A-Za-z0-9_%+=:,./@-]*$`) })

// ShellWord makes text one word of a shell command on one line, quoted where it
// must be. What it would hide is made visible, so that nobody pastes more than
// they see.
func ShellWord(text string) string {
	text = OneLine(text)
	if plainWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
