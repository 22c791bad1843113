package words

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Code shows untrusted text inside a line or a table cell. Inside code no
// markdown, mention, link or emoji name is read. Most text goes into a code span.
// What could be taken for a tag or a fence, and the bar that would split a table's
// cell, cannot be escaped there: such text goes into an element of its own, with
// its signs as entities.
func Code(text string) string {
	text = OneLine(text)
	switch {
	case text == "":
		return "*(empty)*"
	case strings.ContainsAny(text, "<>|"), strings.Contains(text, "``"):
		return "<code>" + Entities(text) + "</code>"
	case !strings.Contains(text, "`"):
		return "`" + text + "`"
	}
	return "`` " + text + " ``"
}

// Entities writes every ASCII character that markdown or HTML could take for its
// own as a numeric entity. Signs that make an address are cut off from what
// stands before them, because some renderers look for addresses after decoding.
func Entities(text string) string {
	address := ":@"
	if strings.Contains(strings.ToLower(text), "www") {
		address += "."
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(address, r):
			fmt.Fprintf(&b, "<wbr>&#%d;", r)
		case r >= 0x80 || isAlnum(r) || strings.ContainsRune(" ,;?/'%=.", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String()
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

var plainProse = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN ,.;:'()%+×–-]+$`) })

// Prose shows a sentence of pawl's own that may hold a word from elsewhere: as a
// sentence when it cannot be taken for anything else.
func Prose(text string) string {
	text = OneLine(text)
	bare := strings.NewReplacer("_", "", "$", "").Replace(text)
	if plainProse().MatchString(bare) && !strings.Contains(text, "www.") {
		return strings.NewReplacer("_", `\_`, "$", "&#36;").Replace(text)
	}
	return Code(text)
}

// FenceAround is a fence longer than any run of backticks in text.
func FenceAround(text string) string {
	longest, run := 2, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// Tail keeps the last lines of text, at most n bytes of them.
func Tail(text string, lines, n int) (kept string, cut bool) {
	text = strings.TrimRight(text, "\n")
	all := strings.Split(text, "\n")
	from := max(len(all)-lines, 0)
	size := len(text)
	for _, line := range all[:from] {
		size -= len(line) + 1
	}
	for from < len(all)-1 && size > n {
		size -= len(all[from]) + 1
		from++
	}
	kept = strings.Join(all[from:], "\n")
	if len(kept) > n {
		kept, cut = strings.ToValidUTF8(kept[len(kept)-n:], ""), true
	}
	return kept, cut || from > 0
}

// Wrap breaks long lines of prose between words, because code blocks do not.
func Wrap(text string, width int) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		for len([]rune(line)) > width {
			runes := []rune(line)
			at := strings.LastIndexByte(string(runes[:width]), ' ')
			if at <= 0 {
				break
			}
			out, line = append(out, line[:at]), line[at+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
