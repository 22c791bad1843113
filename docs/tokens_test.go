package docs_test

import (
	"fmt"
	"slices"
	"strings"
)

// lexeme is a word of a file: its text, or the name of a word of the layout.
type lexeme struct {
	text   string
	layout bool
	line   int
}

// words are the words that may stand in a line: the literals of the syntactic
// productions, and the lexical productions that they name.
type words struct {
	literals    []string
	productions []string
}

func (g *notation) words() words {
	var w words
	for _, name := range g.order {
		if lexical(name) {
			continue
		}
		g.productions[name].walk(func(e *expression) {
			switch {
			case e.shape == literal && !slices.Contains(w.literals, e.text):
				w.literals = append(w.literals, e.text)
			case e.shape == symbol && lexical(e.text) && !slices.Contains(layout, e.text) && !slices.Contains(w.productions, e.text):
				w.productions = append(w.productions, e.text)
			}
		})
	}
	return w
}

// cutter cuts a file into lexemes by the rules that the grammar's head states.
type cutter struct {
	g      *notation
	words  words
	lines  []string
	out    []lexeme
	blocks []int // columns of the open blocks
	opened []int // the columns of the lines that opened the brackets
	broken bool  // a NEWLINE is due in the brackets
}

// cut returns the lexemes of a text, or what no word can begin with.
func (g *notation) cut(text string) ([]lexeme, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	c := &cutter{g: g, words: g.words(), lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	for n := 0; n < len(c.lines); n++ {
		line := c.lines[n]
		column := len(line) - len(strings.TrimLeft(line, " "))
		if rest := line[column:]; strings.TrimSpace(rest) == "" || rest[0] == '#' {
			continue
		}
		if depth := len(c.opened); depth == 0 {
			if err := c.indent(column, n+1); err != nil {
				return nil, err
			}
		} else if column < c.opened[depth-1] && strings.IndexByte("])}", line[column]) < 0 {
			return nil, fmt.Errorf("line %d begins left of the line that opened the bracket", n+1)
		} else {
			c.broken = true
		}
		if err := c.line(line, column, n+1); err != nil {
			return nil, err
		}
		if len(c.opened) == 0 {
			c.add("NEWLINE", n+1)
			if c.opensBody() {
				n = c.body(n, column)
			}
		}
	}
	for range c.blocks[min(1, len(c.blocks)):] {
		c.add("DEDENT", len(c.lines))
	}
	return c.out, nil
}

func (c *cutter) add(name string, line int) { c.out = append(c.out, lexeme{name, true, line}) }

// indent opens or closes blocks.
func (c *cutter) indent(column, line int) error {
	if len(c.blocks) == 0 {
		c.blocks = []int{column}
	}
	if column > c.blocks[len(c.blocks)-1] {
		c.blocks = append(c.blocks, column)
		c.add("INDENT", line)
		return nil
	}
	for len(c.blocks) > 0 && column < c.blocks[len(c.blocks)-1] {
		c.blocks = c.blocks[:len(c.blocks)-1]
		c.add("DEDENT", line)
	}
	if len(c.blocks) == 0 || column != c.blocks[len(c.blocks)-1] {
		return fmt.Errorf("line %d: column %d belongs to no block", line, column)
	}
	return nil
}

// line cuts one line.
func (c *cutter) line(line string, column, number int) error {
	for at := column; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		if strings.HasPrefix(line[at:], "##") || strings.HasPrefix(line[at:]+" ", "# ") && line[at-1] == ' ' {
			return nil
		}
		end := c.longest(line, at)
		if end == at {
			return fmt.Errorf("line %d: no word begins with %.20q", number, line[at:])
		}
		if c.broken {
			c.add("NEWLINE", number)
			c.broken = false
		}
		text := line[at:end]
		switch text {
		case "[", "{", "(":
			c.opened = append(c.opened, column)
		case "]", "}", ")":
			c.opened = c.opened[:max(0, len(c.opened)-1)]
		}
		c.out = append(c.out, lexeme{text: text, line: number})
		at = end
	}
	return nil
}

func (c *cutter) longest(line string, at int) int {
	end := at
	for _, l := range c.words.literals {
		if strings.HasPrefix(line[at:], l) {
			end = max(end, at+len(l))
		}
	}
	for _, name := range c.words.productions {
		if ends := c.g.ends(c.g.productions[name], line, at); len(ends) > 0 {
			end = max(end, ends[len(ends)-1])
		}
	}
	return end
}

// opensBody reports whether the line that has just ended is `prompt NAME:` at
// the margin or `command:` with nothing behind it.
func (c *cutter) opensBody() bool {
	var line []string
	for i := len(c.out) - 2; i >= 0 && !c.out[i].layout; i-- {
		line = append(line, c.out[i].text)
	}
	slices.Reverse(line)
	switch {
	case len(line) == 3 && line[0] == "prompt" && line[2] == ":":
		return len(c.blocks) == 1
	case len(line) == 2 && line[0] == "command" && line[1] == ":":
		return true
	}
	return false
}

// body skips the lines of a body and returns the last of them.
func (c *cutter) body(n, column int) int {
	last := n
	for i := n + 1; i < len(c.lines); i++ {
		line := c.lines[i]
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(line)-len(strings.TrimLeft(line, " ")) <= column {
			break
		}
		last = i
	}
	if last > n {
		c.add("BODY", n+2)
	}
	return last
}
