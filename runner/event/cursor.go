package event

import "bytes"

// cursor walks over a line's frame. After the first thing that does not fit, bad
// is set and every further read gives a zero value.
type cursor struct {
	rest []byte
	bad  bool
}

// try takes s if it is next.
func (c *cursor) try(s string) bool {
	if c.bad || len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// lit takes s, which must be next.
func (c *cursor) lit(s string) { c.bad = !c.try(s) }

// take takes n bytes.
func (c *cursor) take(n int) []byte {
	if c.bad || len(c.rest) < n {
		c.bad = true
		return make([]byte, n)
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

// Numbers of a line's frame are kept far below what overflows.
const (
	maxDigits = 18
	maxNumber = 1_000_000_000_000_000_000
)

// uint takes a decimal number in its only form: no sign, no leading zero, at most
// maxDigits digits.
func (c *cursor) uint() uint64 {
	n, i := uint64(0), 0
	for ; i < len(c.rest) && i <= maxDigits && '0' <= c.rest[i] && c.rest[i] <= '9'; i++ {
		n = n*10 + uint64(c.rest[i]-'0')
	}
	if c.bad || i == 0 || i > maxDigits || i > 1 && c.rest[0] == '0' {
		c.bad = true
		return 0
	}
	c.rest = c.rest[i:]
	return n
}

// quoted takes a JSON string, its quotes included.
func (c *cursor) quoted() []byte {
	if c.bad || len(c.rest) == 0 || c.rest[0] != '"' {
		c.bad = true
		return nil
	}
	for i := 1; i < len(c.rest); i++ {
		switch c.rest[i] {
		case '\\':
			i++
		case '"':
			return c.take(i + 1)
		}
	}
	c.bad = true
	return nil
}

// hash takes the text of h, which must be next.
func (c *cursor) hash(h Hash) bool {
	var text [hexWidth]byte
	return bytes.Equal(c.take(hexWidth), h.append(text[:0])) && !c.bad
}

// parseHash takes a hash of lower-case digits.
func (c *cursor) parseHash() Hash {
	text := c.take(hexWidth)
	h, ok := parseHash(text)
	c.bad = c.bad || !ok
	return h
}
