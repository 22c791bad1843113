package data

import (
	"strings"

	"github.com/goccy/go-yaml/token"
)

// place finds every byte of a YAML text in the file: within quotes, or plain,
// possibly on several lines.
func (y *yamlReader) place(v *Value, tok *token.Token) {
	p := placing{text: y.file.Text, at: v.Span.Start, offsets: make([]int, 0, len(v.Str)+1)}
	if tok != nil && (tok.Type == token.DoubleQuoteType || tok.Type == token.SingleQuoteType) {
		p.quote = p.byte()
		p.at++
	}
	p.run(v.Str)
	end := p.at
	if p.quote != 0 {
		if i := strings.IndexByte(p.text[min(end, len(p.text)):], p.quote); i >= 0 {
			end += i + 1
		}
	}
	v.offsets, v.Span.End = p.offsets, min(max(end, v.Span.Start+1), len(p.text))
}

// placeBlock does the same for a text below | or >.
func (y *yamlReader) placeBlock(v *Value) {
	p := placing{text: y.file.Text, at: len(y.file.Text), offsets: make([]int, 0, len(v.Str)+1)}
	if i := strings.IndexByte(p.text[v.Span.Start:], '\n'); i >= 0 {
		p.at = v.Span.Start + i + 1
	}
	p.run(v.Str)
	v.offsets, v.Span.End = p.offsets, max(v.Span.End, len(strings.TrimRight(p.text[:min(p.at, len(p.text))], " \t\r\n")))
}

// placing walks through a value and through the text it was read from, side by
// side. White space differs, because lines are folded and indentation is dropped,
// and so do escapes; everything else is there letter by letter. It never steps
// back, so it costs what the text is long.
type placing struct {
	text    string
	at      int
	quote   byte // around the value; 0 without
	offsets []int
}

func (p *placing) byte() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *placing) run(value string) {
	for i := 0; i < len(value); {
		c := value[i]
		switch {
		case blank(c):
			p.mark(1)
			if blank(p.byte()) {
				p.at++
			} else if p.quote == '"' && p.byte() == '\\' {
				p.at += escapeSize(p.text[p.at:])
			}
			i++
		default:
			i += p.letter(value[i:])
		}
	}
	p.offsets = append(p.offsets, min(p.at, len(p.text)))
}

// letter places what is no white space and returns how many bytes of value it
// took.
func (p *placing) letter(value string) int {
	for blank(p.byte()) || p.quote == '"' && (strings.HasPrefix(p.text[p.at:], "\\\n") || strings.HasPrefix(p.text[p.at:], "\\\r\n")) {
		p.at++
	}
	switch {
	case p.quote == '"' && p.byte() == '\\':
		width := 1
		for width < len(value) && value[width]&0xc0 == 0x80 { // the rest of one character
			width++
		}
		p.mark(width)
		p.at += escapeSize(p.text[p.at:])
		return width
	case p.quote == '\'' && strings.HasPrefix(p.text[min(p.at, len(p.text)):], "''") && value[0] == '\'':
		p.mark(1)
		p.at += 2
	case p.byte() == value[0]:
		p.mark(1)
		p.at++
	default:
		p.mark(1) // the parser has read something that is not there: stay
	}
	return 1
}

func (p *placing) mark(width int) {
	for range width {
		p.offsets = append(p.offsets, min(p.at, len(p.text)))
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// escapeSize is how many bytes the escape at the beginning of raw has.
func escapeSize(raw string) int {
	sizes := map[byte]int{'x': 4, 'u': 6, 'U': 10}
	if len(raw) < 2 {
		return len(raw)
	}
	return min(max(sizes[raw[1]], 2), len(raw))
}
